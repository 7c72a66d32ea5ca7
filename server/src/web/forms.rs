//! Forms: their fields, what was typed into them, and what is wrong with it.
//!
//! A form is shown with its values, and again with the same values and the errors of the API's own
//! validation beside the fields if it is refused. After success it leads to another page, so that
//! loading that page again sends nothing again.

use std::borrow::Cow;

use http::StatusCode;
use http::request::Parts;
use maud::{Markup, html};
use url::form_urlencoded;
use uuid::Uuid;

use super::fields::Attributes;
pub(super) use super::fields::{Field, Input};
use super::layout::{Page, redirect};
use crate::api::{Api, HandlerResult};
use crate::domain::SessionRecord;
use crate::generate::SubmitError;
use crate::generate::submit::SubmissionError;
use crate::http::error::{ApiError, Problem};
use crate::http::path::RequestTarget;

/// The field with the token of a form that must be carried out once.
const TOKEN: &str = "token";

/// The name of a field, and its label.
type Label = (&'static str, &'static str);

/// The values of a form, and why it was refused.
#[derive(Debug, Default)]
pub(super) struct Entered<'a> {
    values: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    problem: Option<Problem>,
}

impl<'a> Entered<'a> {
    /// The values of a new form, or of one that was sent.
    pub(super) fn new(values: &[(&'a str, &'a str)]) -> Self {
        let values = values.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        Self { values: values.collect(), problem: None }
    }

    /// The values of a query or of a form that was sent.
    pub(super) fn parse(form: &'a [u8]) -> Self {
        Self { values: form_urlencoded::parse(form).collect(), problem: None }
    }

    /// The values of something that exists.
    pub(super) fn owned(values: Vec<(&'static str, String)>) -> Self {
        let values = values.into_iter().map(|(name, value)| (name.into(), value.into()));
        Self { values: values.collect(), problem: None }
    }

    /// The values of a refused form, to show it again.
    ///
    /// # Errors
    /// The refusal, if another attempt with other values is no help.
    pub(super) fn refused(
        form: &'a [u8],
        error: ApiError,
        parts: &Parts,
    ) -> Result<Self, ApiError> {
        Self::parse(form).with(error, parts)
    }

    /// The same values with the reason of a refusal, as [`Entered::refused`].
    pub(super) fn with(self, error: ApiError, parts: &Parts) -> Result<Self, ApiError> {
        let mut problem = error.problem(RequestTarget::new(parts.uri.path(), &parts.method));
        let is_provider = matches!(
            &error,
            ApiError::Submission(SubmissionError::Provider(SubmitError::Refused(_)))
        );
        if is_provider {
            problem.status = StatusCode::BAD_REQUEST;
        }
        match problem.status.as_u16() {
            400 | 409 | 429 | 502 | 503 => Ok(Self { problem: Some(problem), ..self }),
            _ => Err(error),
        }
    }

    /// The value of a field, or nothing.
    pub(super) fn value(&self, name: &str) -> &str {
        let mut values = self.values.iter().filter(|(field, _)| field == name);
        values.next().map_or("", |(_, value)| value)
    }

    /// The values of a field that may be given more than once.
    pub(super) fn all<'b>(&'b self, name: &'b str) -> impl Iterator<Item = &'b str> {
        self.values.iter().filter(move |(field, _)| field == name).map(|(_, value)| &**value)
    }

    /// The status of the page with this form.
    pub(super) fn status(&self) -> StatusCode {
        self.problem.as_ref().map_or(StatusCode::OK, |problem| problem.status)
    }

    fn error(&self, name: &str) -> Option<&str> {
        self.problem.as_ref()?.details.0.get(name).map(String::as_str)
    }

    /// What is wrong, above the form. Each error of a field leads to that field.
    pub(super) fn summary(&self, labels: &[Label]) -> Markup {
        let Some(Problem { text, details, .. }) = &self.problem else { return Markup::default() };
        let label =
            |name: &str| labels.iter().find(|(field, _)| *field == name).map(|(_, label)| *label);
        html! {
            div .card.refused role="alert" {
                @if details.0.is_empty() {
                    p { span .problem { bdi { (text) } } "." }
                } @else {
                    p { "Not saved. Please correct:" }
                    ul {
                        @for (name, error) in &details.0 {
                            li {
                                @match label(name) {
                                    Some(label) => { a href={ "#" (name) } { (label) } " " (error) }
                                    None => { (name) " " (error) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// The hidden field that makes a form be carried out once, however often it is sent.
    pub(super) fn token(&self) -> Markup {
        let kept = Uuid::parse_str(self.value(TOKEN));
        html! { input type="hidden" name=(TOKEN) value=(kept.unwrap_or_else(|_| Uuid::new_v4())); }
    }

    /// A field with its label, help and error.
    pub(super) fn field(&self, field: &Field<'_>) -> Markup {
        let Field { name, label, help, input, is_required } = field;
        let error = self.error(name);
        let (help_id, error_id) = (format!("{name}-help"), format!("{name}-error"));
        let described = [error.map(|_| &*error_id), (!help.is_empty()).then_some(&*help_id)];
        let described = described.into_iter().flatten().collect::<Vec<_>>().join(" ");
        let attributes = Attributes {
            name,
            described: (!described.is_empty()).then_some(described),
            invalid: error.map(|_| "true"),
            is_required: *is_required,
        };
        let below = html! {
            @if let Some(error) = error { p .error id=(error_id) { (label) " " (error) } }
            @if !help.is_empty() { p .soft id=(help_id) { (help) } }
        };
        if let Input::Radios(choices) = input {
            return html! {
                fieldset #(name) .field tabindex="-1" aria-describedby=[&attributes.described] {
                    legend { (label) }
                    @for (value, text, about) in *choices {
                        label .choice {
                            input type="radio" name=(name) value=(value)
                                checked[*value == self.value(name)];
                            span { (text) @if !about.is_empty() { span .soft { " " (about) } } }
                        }
                    }
                    (below)
                }
            };
        }
        html! {
            div .field.wide[matches!(input, Input::Text { .. } | Input::Title)] {
                label for=(name) { (label) }
                (attributes.control(input, self.value(name)))
                (below)
            }
        }
    }
}

/// Asks before something is done that cannot be undone. The form has `fields` and leads to
/// `action`, the link to `back`.
pub(super) fn confirm_page(
    page: &Page<'_>,
    question: &Markup,
    (action, fields, button): (&str, &Markup, &str),
    back: &str,
) -> HandlerResult {
    page.show(&html! {
        p { (question) }
        form .buttons method="post" action=(page.site.page(action)) {
            (fields)
            button .danger { (button) }
            a .button href=(page.site.page(back)) { "Keep" }
        }
    })
}

/// Carries out a form with a token once, and leads to the page of its result.
pub(super) async fn once<F: Future<Output = Result<String, ApiError>>>(
    api: &Api,
    session: &SessionRecord,
    form: &[u8],
    work: impl FnOnce() -> F,
) -> HandlerResult {
    let page = match Uuid::parse_str(Entered::parse(form).value(TOKEN)) {
        Ok(token) => api.replays.get_or_insert_async(&(session.account, token), work()).await?,
        // A program may leave it out.
        Err(_) => work().await?,
    };
    redirect(&api.site, &page, None)
}
