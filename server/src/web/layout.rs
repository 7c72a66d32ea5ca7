//! What all pages share: head, navigation, policy, and the parts that lists are made of.

use std::sync::LazyLock;

use data_encoding::BASE64;
use http::header::{CONTENT_SECURITY_POLICY, LOCATION, REFERRER_POLICY, SET_COOKIE};
use http::{HeaderValue, StatusCode};
use jiff::Timestamp;
use maud::{DOCTYPE, Markup, PreEscaped, Render, html};
use promptarium::{PromptId, VaultId};
use sha2::{Digest, Sha256};
use url::form_urlencoded;

use crate::api::{Api, HandlerResult};
use crate::domain::SessionRecord;
use crate::http::browser::Site;
use crate::http::response::{self, Response, ResponseBody};

const STYLE: &str = include_str!("style.css");

/// On the page of the sign-in. A second link in the same tab changes the fragment only and does
/// not load the page again.
pub(super) const FILL_IN: &str = "\
function fillIn() {
  if (location.hash.length < 2) return;
  document.querySelector('input').value = location.hash.slice(1);
  history.replaceState(null, '', location.pathname);
  document.querySelector('button').focus();
}
addEventListener('hashchange', fillIn);
fillIn();
";

/// On pages that need a session. Chromium keeps even pages with `no-store` in its back/forward cache
/// and shows them after signing out. This hides a page that is left, and reloads one that is shown
/// again.
const RELOAD: &str = "\
addEventListener('pagehide', () => { document.body.hidden = true; });
addEventListener('pageshow', event => { if (event.persisted) location.reload(); });
";

/// Pictures and videos are assets of this service, at its own origin.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = |text| BASE64.encode(&Sha256::digest(text));
    format!(
        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; \
         img-src 'self'; media-src 'self'; style-src 'sha256-{}'; script-src 'sha256-{}' \
         'sha256-{}'",
        hash(STYLE),
        hash(FILL_IN),
        hash(RELOAD)
    )
});

/// The pages of the navigation: address and text.
const SECTIONS: [(&str, &str); 6] = [
    ("", "Overview"),
    ("prompts", "Prompts"),
    ("vaults", "Vaults"),
    ("jobs", "Jobs"),
    ("keys", "Keys"),
    ("sessions", "Sessions"),
];

/// Bytes of a list in one page, so that a page stays small whatever is in it. Lists with a link to
/// more entries have shorter ones: what is left out would be in no page.
const LIST_BYTES_MAX: usize = 24 * 1024;

/// A page of the dashboard, beside its content.
pub(super) struct Page<'a> {
    pub(super) site: &'a Site,
    /// `None` on pages that need no session.
    pub(super) session: Option<&'a SessionRecord>,
    /// Address of its section in the navigation, if it is in one.
    pub(super) section: Option<&'static str>,
    /// Its heading; also the beginning of its title.
    pub(super) title: &'a str,
    /// Whether the browser loads it again after a few seconds.
    pub(super) refreshes: bool,
}

impl<'a> Page<'a> {
    /// A page that needs a session.
    pub(super) const fn of(
        site: &'a Site,
        session: &'a SessionRecord,
        section: &'static str,
        title: &'a str,
    ) -> Self {
        Self { site, session: Some(session), section: Some(section), title, refreshes: false }
    }

    /// A page that needs none.
    pub(super) const fn open(site: &'a Site, title: &'a str) -> Self {
        Self { site, session: None, section: None, title, refreshes: false }
    }

    pub(super) fn show(&self, content: &Markup) -> HandlerResult {
        Ok(self.response(StatusCode::OK, content))
    }

    pub(super) fn response(&self, status: StatusCode, content: &Markup) -> Response {
        let body = ResponseBody::Left(self.html(content).into_string().into());
        let mut response = response::with_type(status, "text/html; charset=utf-8", body);
        let headers = response.headers_mut();
        let policy = HeaderValue::from_str(&POLICY);
        headers.extend(policy.map(|policy| (CONTENT_SECURITY_POLICY, policy)));
        // With `no-referrer` browsers would send `Origin: null` with the forms.
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
        response
    }

    fn html(&self, content: &Markup) -> Markup {
        // A title may be typed by a person, in a language that is written from right to left.
        let is_plain = self.title.is_ascii();
        let [isolate, end] = if is_plain { [""; 2] } else { ["\u{2068}", "\u{2069}"] };
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    @if self.refreshes { meta http-equiv="refresh" content="3"; }
                    title { (isolate) (self.title) (end) " – Promptarium" }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    a .skip href="#content" { "Skip to the content" }
                    @if let Some(session) = self.session {
                        (self.header(session))
                        script { (PreEscaped(RELOAD)) }
                    }
                    main #content tabindex="-1" {
                        h1 dir=[(!is_plain).then_some("auto")] { (self.title) }
                        (content)
                    }
                }
            }
        }
    }

    fn header(&self, session: &SessionRecord) -> Markup {
        html! {
            header {
                nav aria-label="Main" {
                    ul {
                        @for (address, text) in SECTIONS {
                            @let current = (self.section == Some(address)).then_some("page");
                            li { a href=(self.site.page(address)) aria-current=[current] { (text) } }
                        }
                    }
                }
                form method="post" action=(self.site.page("sign-out")) {
                    span .soft { "Account " (typed(&session.account_name, 40)) }
                    button { "Sign out" }
                }
            }
        }
    }
}

/// An item of a list: a link to its page, and lines below.
pub(super) fn item(href: &str, title: &str, below: &Markup) -> Markup {
    html! { li { a href=(href) { (typed(title, 100)) } p .soft { (below) } } }
}

/// A list of at most [`LIST_BYTES_MAX`], or `empty`, which says what to do next.
pub(super) fn list<T>(
    entries: &[T],
    empty: &Markup,
    mut render: impl FnMut(&T) -> Markup,
) -> Markup {
    let (mut rows, mut shown) = (String::new(), 0);
    for entry in entries {
        let row = render(entry).into_string();
        if rows.len() + row.len() > LIST_BYTES_MAX {
            break;
        }
        rows.push_str(&row);
        shown += 1;
    }
    html! {
        @if entries.is_empty() { div .empty { (empty) } }
        // Rows are markup already.
        @else { ul .list { (PreEscaped(rows)) } }
        @if shown < entries.len() {
            p .soft { "Shown are " (shown) " of " (entries.len()) ". The API lists all." }
        }
    }
}

/// At most so many characters of a text, with an ellipsis where it is longer.
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

/// A time, to the second.
pub(super) struct When(pub(super) Timestamp);

impl Render for When {
    fn render(&self) -> Markup {
        let text = self.0.strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
        html! { time datetime=(format!("{:.0}", self.0)) { (text) } }
    }
}

/// `name?field=value&…` of a page, with the fields that have a value.
pub(super) fn address(page: &str, fields: &[(&str, Option<&str>)]) -> String {
    let mut query = form_urlencoded::Serializer::new(format!("{page}?"));
    for (name, value) in fields {
        query.extend_pairs(value.map(|value| (name, value)));
    }
    query.finish()
}

pub(super) fn prompt_address(api: &Api, id: PromptId) -> String {
    api.site.page(&format!("prompts/{id}"))
}

pub(super) fn vault_address(api: &Api, id: VaultId) -> String {
    api.site.page(&format!("vaults/{id}"))
}

pub(super) fn redirect(
    site: &Site,
    page: &str,
    cookies: Option<[HeaderValue; 2]>,
) -> HandlerResult {
    let mut response = http::Response::builder()
        .status(StatusCode::SEE_OTHER)
        .header(LOCATION, site.page(page))
        .body(response::no_body())?;
    let cookies = cookies.into_iter().flatten().map(|cookie| (SET_COOKIE, cookie));
    response.headers_mut().extend(cookies);
    Ok(response)
}
