//! What all pages share: head, navigation, policy, scripts, and the line that says what was done.

use std::sync::LazyLock;

use data_encoding::BASE64;
use http::header::{CONTENT_SECURITY_POLICY, LOCATION, REFERRER_POLICY, SET_COOKIE};
use http::{HeaderValue, StatusCode};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use super::forms::{Entered, Form};
use super::parts::typed;
use crate::api::{HandlerResult, openapi};
use crate::domain::SessionRecord;
use crate::http::browser::Site;
use crate::http::response::{self, Response, ResponseBody};

const STYLE: &str = include_str!("style.css");

/// On pages with a session: reloading of cached pages, copying, shortcuts; running jobs are replaced
/// by their present state; dropped files and the progress of an upload.
const WITH_SESSION: &str = concat!(
    include_str!("scripts/copy.js"),
    include_str!("scripts/session.js"),
    include_str!("scripts/jobs.js"),
    include_str!("scripts/upload.js")
);
/// On other pages: copying; fills in the code of a sign-in link.
const WITHOUT_SESSION: &str =
    concat!(include_str!("scripts/copy.js"), include_str!("scripts/sign_in.js"));

/// A sheet with a spark, as a file and in the header.
const ICON: &str = include_str!("icon.svg");

/// Pictures and videos are assets of this service, at its own origin; the icon is in the page.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = |text| format!("'sha256-{}'", BASE64.encode(&Sha256::digest(text)));
    format!(
        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; \
         img-src 'self' data:; media-src 'self'; connect-src 'self'; style-src {}; \
         script-src {} {}",
        hash(STYLE),
        hash(WITH_SESSION),
        hash(WITHOUT_SESSION)
    )
});

const SECTIONS: &[(&str, &str)] = &[
    ("", "Overview"),
    ("prompts", "Prompts"),
    ("vaults", "Vaults"),
    ("jobs", "Jobs"),
    ("keys", "Keys"),
    #[cfg(feature = "webhooks")]
    ("webhooks", "Webhooks"),
    ("sessions", "Sessions"),
    ("account", "Account"),
];

/// What the page after a form says, by the code in its address. The address has no text of its own:
/// a link of somebody else could say anything.
const DONE: [(&str, &str); 22] = [
    ("created", "Saved."),
    ("changed", "Changes saved."),
    ("add", "Added to the vault."),
    ("move", "Moved to the vault."),
    ("delete", "Deleted."),
    ("pin", "Pinned."),
    ("unpin", "Unpinned."),
    ("remove", "Removed from the vault."),
    ("cover", "Cover changed."),
    ("no-picture", "This prompt has no picture to use as a cover. Nothing was changed."),
    ("none-chosen", "Select at least one prompt. Nothing was changed."),
    ("no-vault", "Choose a vault first. Nothing was changed."),
    ("queued", "Generation queued."),
    ("key-created", "This key was already created. A key is shown only once."),
    ("key-revoked", "Key revoked."),
    ("sessions-ended", "Session ended."),
    ("vault-deleted", "Vault deleted. Its prompts were kept."),
    ("vault-forked", "Copied to your account. Only you can see this copy."),
    ("account-renamed", "Account renamed."),
    ("webhook-deleted", "Webhook deleted."),
    ("sent-again", "The event is sent again."),
    ("imported", "Import finished."),
];

pub(super) struct Page<'a> {
    pub(super) site: &'a Site,
    pub(super) session: Option<&'a SessionRecord>,
    /// One of [`SECTIONS`], if it is in one.
    pub(super) section: Option<&'static str>,
    pub(super) title: String,
    /// One of the codes of [`DONE`].
    pub(super) done: String,
    pub(super) actions: Option<Markup>,
    /// Elements of the head with which other sites show a link to the page.
    pub(super) preview: Option<Markup>,
}

impl<'a> Page<'a> {
    pub(super) fn open(site: &'a Site, title: impl Into<String>) -> Self {
        let (title, done) = (title.into(), String::new());
        let (session, section, actions, preview) = (None, None, None, None);
        Self { site, session, section, title, done, actions, preview }
    }

    pub(super) fn with_actions(self, actions: Markup) -> Self {
        Self { actions: Some(actions), ..self }
    }

    pub(super) fn show(&self, content: &Markup) -> HandlerResult {
        Ok(self.response(StatusCode::OK, content))
    }

    pub(super) fn show_form(&self, entered: &Entered, form: &Form<'_>) -> HandlerResult {
        Ok(self.response(entered.status(), &entered.form(self.site, form)))
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
        let icon = format!("data:image/svg+xml,{}", ICON.replace('#', "%23"));
        let done = DONE.iter().find(|(code, _)| *code == self.done);
        let script = if self.session.is_some() { WITH_SESSION } else { WITHOUT_SESSION };
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    // Isolated, as a person may have typed it from right to left.
                    title { "\u{2068}" (self.title) "\u{2069} – Promptarium" }
                    @if let Some(preview) = &self.preview { (preview) }
                    link rel="icon" href=(icon);
                    style { (PreEscaped(STYLE)) }
                }
                body data-root=(self.site.page("")) {
                    a .skip href="#content" { "Skip to the content" }
                    (self.header())
                    main #content tabindex="-1" {
                        @if self.site.is_in_memory && self.session.is_some() {
                            p .lost {
                                "Nothing here is kept: this server has its data in memory. "
                                a href=(self.site.page("account")) { "Export" }
                                " what you need before it stops."
                            }
                        }
                        div .heading {
                            h1 { bdi { (self.title) } }
                            @if let Some(actions) = &self.actions { div .actions { (actions) } }
                        }
                        @if let Some((_, text)) = done { p .done role="status" { (text) } }
                        (content)
                    }
                    @if self.session.is_some() {
                        footer {
                            a .soft href=(self.site.page(openapi::PATH.trim_start_matches('/'))) {
                                "API description"
                            }
                        }
                    }
                    script { (PreEscaped(script)) }
                }
            }
        }
    }

    fn header(&self) -> Markup {
        html! {
            header {
                a .brand href=(self.site.page("")) {
                    (PreEscaped(ICON.replacen("<svg", "<svg aria-hidden='true'", 1))) "Promptarium"
                }
                @if let Some(session) = self.session {
                    form method="post" action=(self.site.page("sign-out")) {
                        span .soft { span .word { "Account " } (typed(&session.account_name, 40)) }
                        button { "Sign out" }
                    }
                    nav aria-label="Main" {
                        ul {
                            @for (address, text) in SECTIONS {
                                @let current = (self.section == Some(*address)).then_some("page");
                                li { a href=(self.site.page(address)) aria-current=[current] { (text) } }
                            }
                        }
                    }
                }
            }
        }
    }
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

/// The address of a page that says what was done; the code is one of [`DONE`].
pub(super) fn done_address(page: &str, code: &str) -> String {
    let separator = if page.contains('?') { '&' } else { '?' };
    format!("{page}{separator}done={code}")
}
