//! Parts of pages: pages of lists, texts of people, times, addresses.

use std::borrow::Cow;

use maud::{Markup, Render, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use promptarium::Variable;
use url::form_urlencoded;

use super::forms::{Choices, Entered};
use crate::api::Api;
use crate::http::error::ApiError;

pub(super) const PAGE: usize = 20;
const PAGES_MAX: usize = 1_000;
const LIST_MAX: usize = 50;
const VARIABLES_MAX: usize = 50;

/// Links to the pages before and after this one, where there are some, and what they list.
pub(super) fn pager(
    api: &Api,
    previous: Option<String>,
    count: &str,
    next: Option<String>,
) -> Markup {
    html! {
        nav .pager aria-label="Pages" {
            @if let Some(page) = previous { a rel="prev" href=(api.site.page(&page)) { "Previous page" } }
            span .soft { (count) }
            @if let Some(page) = next { a rel="next" href=(api.site.page(&page)) { "Next page" } }
        }
    }
}

/// The field `page` of a query, from 0. Further pages would skip so many rows that a program should
/// use the API.
pub(super) fn page_number(query: &Entered) -> Result<usize, ApiError> {
    let number = match query.value("page") {
        "" => Ok(0),
        text => text.parse(),
    };
    number.ok().filter(|number| *number < PAGES_MAX).ok_or(ApiError::NotFound)
}

/// Links to the pages around this one of a list with so many entries.
pub(super) fn pages(api: &Api, page: &str, number: usize, count: u64, text: &str) -> Markup {
    let at = |number: usize| address(page, [("page", &*number.to_string())]);
    let next = (count > ((number + 1) * PAGE) as u64).then(|| at(number + 1));
    pager(api, number.checked_sub(1).map(at), text, next)
}

pub(super) fn list<T>(entries: &[T], render: impl Fn(&T) -> Markup) -> Markup {
    html! {
        ul .list { @for entry in entries.iter().take(LIST_MAX) { (render(entry)) } }
        @if entries.len() > LIST_MAX { p .soft { "Shown are " (LIST_MAX) " of " (entries.len()) "." } }
    }
}

pub(super) fn tile(picture: Option<&Markup>, below: &Markup) -> Markup {
    html! { li .tile { @if let Some(picture) = picture { div .cover { (picture) } } (below) } }
}

pub(super) fn words(all: impl IntoIterator<Item: ToString>) -> Choices {
    all.into_iter().map(|word| (word.to_string(), word.to_string())).collect()
}

/// "1 prompt", "2 prompts".
pub(super) fn counted(count: impl TryInto<u64>, one: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

pub(super) fn shortened(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// At most so many characters of a text that a person or a program typed. It is isolated, so that it
/// does not turn the direction of the text around it.
pub(super) fn typed(text: &str, chars_max: usize) -> Markup {
    html! { bdi { (shortened(text, chars_max)) } }
}

/// A title or name with a visible character: a link without one would have no text.
pub(super) fn visible(text: &str) -> &str {
    let is_visible = text.chars().any(|c| c.is_alphanumeric() || c.is_ascii_graphic());
    if is_visible { text } else { "Untitled" }
}

pub(super) fn titled(text: &str, chars_max: usize) -> Markup {
    typed(visible(text), chars_max)
}

/// The whole text of a prompt, which the script can copy. A parser skips the first line break.
pub(super) fn full_text(text: impl Render) -> Markup {
    html! {
        pre #text .text data-copy="Copy" tabindex="0" dir="auto" role="region"
            aria-label="Text of the prompt" { "\n" (text) }
    }
}

/// The text with the values in the query, which the script can copy, and the form for the values. The
/// form leads to `action`, the page that it is on, with these fields kept.
pub(super) fn with_variables(
    text: &str,
    query: &Entered,
    action: &str,
    kept: &[(&str, &str)],
) -> Markup {
    let variables = Variable::all_in(text);
    let field = |name: &str| format!("var.{name}");
    let value = |name: &str| Some(query.value(&field(name))).filter(|value| !value.is_empty());
    let is_filled = variables.iter().any(|variable| value(&variable.name).is_some());
    let shown: Cow<'_, str> = match is_filled {
        true => Variable::fill(text, value).into(),
        false => text.into(),
    };
    html! {
        @if !variables.is_empty() {
            form .card.fields action=(action) {
                @for (name, value) in kept { input type="hidden" name=(name) value=(value); }
                @for variable in variables.iter().take(VARIABLES_MAX) {
                    @let id = field(&variable.name);
                    div .field {
                        label for=(id) { bdi { (variable.name) } }
                        input id=(id) name=(id) dir="auto" autocomplete="off"
                            placeholder=[variable.default.as_deref()]
                            value=(value(&variable.name).unwrap_or_default());
                    }
                }
                div .buttons {
                    button .main { "Fill in" }
                    @if is_filled { a .button href=(action) { "Clear" } }
                }
            }
        }
        (full_text(html! {
            @for (piece, is_variable) in Variable::split(&shown) {
                @if is_variable { mark { (piece) } } @else { (piece) }
            }
        }))
    }
}

pub(super) fn relative(seconds: i64) -> String {
    const UNITS: [(i64, &str); 5] = [
        (365 * 86_400, "year"),
        (30 * 86_400, "month"),
        (86_400, "day"),
        (3_600, "hour"),
        (60, "minute"),
    ];
    let size = seconds.abs();
    let Some((unit, name)) = UNITS.into_iter().find(|(unit, _)| size >= *unit) else {
        return if seconds >= 0 { "just now" } else { "in a moment" }.to_owned();
    };
    let amount = counted(size / unit, name);
    if seconds >= 0 { format!("{amount} ago") } else { format!("in {amount}") }
}

/// `name?field=value&…` of a page, with the fields that have a value.
pub(super) fn address<'a>(
    page: &str,
    fields: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> String {
    let mut query = form_urlencoded::Serializer::for_suffix(format!("{page}?"), page.len() + 1);
    query.extend_pairs(fields.into_iter().filter(|(_, value)| !value.is_empty()));
    query.finish().trim_end_matches('?').to_owned()
}

/// What is encoded in a segment of a path. A name of dots only would not be a segment.
const SEGMENT: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_');

/// The page of a job, whose name may have any character.
pub(super) fn job_page(client_job_id: &str) -> String {
    format!("jobs/{}", utf8_percent_encode(client_job_id, &SEGMENT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_in_its_largest_unit() {
        for (seconds, text) in [
            (0, "just now"),
            (60, "1 minute ago"),
            (7_199, "1 hour ago"),
            (31 * 86_400, "1 month ago"),
            (800 * 86_400, "2 years ago"),
            (-5, "in a moment"),
            (-7 * 86_400, "in 7 days"),
        ] {
            assert_eq!(relative(seconds), text, "{seconds}");
        }
    }

    #[test]
    fn an_address_has_the_fields_with_a_value() {
        assert_eq!(address("prompts", [("q", "")]), "prompts");
        assert_eq!(address("prompts", [("q", "a b"), ("x", "")]), "prompts?q=a+b");
    }

    #[test]
    fn a_title_without_a_visible_character_has_a_text() {
        for text in ["   ", "\u{202e}", "\u{200b} \u{2800}"] {
            assert_eq!(visible(text), "Untitled", "{text:?}");
        }
        assert_eq!(titled("!", 9).into_string(), "<bdi>!</bdi>");
    }
}
