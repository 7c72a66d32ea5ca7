//! A request for a page by somebody who is signed in.

use std::sync::Arc;

use bytes::Bytes;
use http::Method;
use http::request::Parts;
use jiff::Timestamp;
use maud::{Markup, html};
use multer::parse_boundary;
use quick_cache::sync::Cache;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::forms::{Entered, TOKEN};
use super::layout::{Page, done_address, redirect};
use super::parts::relative;
use crate::api::{Api, HandlerResult, Request};
use crate::domain::{AccountId, Caller, SessionRecord};
use crate::http::body::{FORM, content_type};
use crate::http::error::ApiError;
use crate::store::Store;

/// The pages with the results of forms, by the token in each form: sending one again does nothing
/// again. A server remembers its own only, so two servers may carry out the same form.
pub(super) type Replays = Arc<Cache<(AccountId, [u8; 32]), String>>;

pub(crate) struct Visit<'a> {
    pub(super) api: &'a Api,
    pub(super) session: &'a SessionRecord,
    pub(super) caller: Caller,
    pub(super) request: Request<'a>,
    /// The form that was sent, with the digest of its file; or the query.
    pub(super) sent: Bytes,
    pub(super) entered: Entered,
}

impl<'a> Visit<'a> {
    pub(crate) async fn new(
        api: &'a Api,
        session: &'a SessionRecord,
        mut request: Request<'a>,
    ) -> Result<Self, ApiError> {
        let sent = match request.parts.method == Method::POST {
            true if boundary(request.parts).is_some() => Bytes::new(),
            true => request.body(FORM).await?,
            false => Bytes::copy_from_slice(query_bytes(&request)),
        };
        let (caller, entered) = (session.caller(), Entered::parse(&sent));
        Ok(Self { api, session, caller, request, sent, entered })
    }

    pub(super) fn store(&self) -> &'a dyn Store {
        &*self.api.store
    }

    /// A page of this section of the navigation, with what the form before it has done.
    pub(super) fn page(&self, section: &'static str, title: impl Into<String>) -> Page<'a> {
        let done = self.entered.value("done").into();
        let page = Page::open(&self.api.site, title);
        Page { session: Some(self.session), section: Some(section), done, ..page }
    }

    /// The id in the path, if the route has one.
    pub(super) fn path_id<Id: From<i64>>(&self) -> Result<Option<Id>, ApiError> {
        self.request.params.text(0).map(|_| self.request.id(0)).transpose()
    }

    pub(super) fn at(&self, page: &str) -> String {
        self.api.site.page(page)
    }

    pub(super) fn link(&self, page: &str, text: &str) -> Markup {
        html! { a href=(self.at(page)) { (text) } }
    }

    /// How long ago a time was. The exact time is in its title.
    pub(super) fn ago(&self, time: Timestamp) -> Markup {
        let exact = time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
        let text = relative(self.api.clock.now().duration_since(time).as_secs());
        html! { time datetime=(format!("{time:.0}")) title=(exact) { (text) } }
    }

    pub(super) fn button(&self, page: &str, text: &str) -> Markup {
        html! { a .button href=(self.at(page)) { (text) } }
    }

    /// A button that does something at once, and leads to a page that says what was done.
    pub(super) fn post(&self, page: &str, button: &Markup) -> Markup {
        html! { form method="post" action=(self.at(page)) { (button) } }
    }

    /// A button that opens a question; its answer is sent to a page, and cannot be undone.
    pub(super) fn ask(&self, text: &str, question: &str, page: &str, answer: &Markup) -> Markup {
        html! {
            details .ask {
                summary .button { (text) }
                form .card method="post" action=(self.at(page)) { p { (question) } (answer) }
            }
        }
    }

    pub(super) fn done(&self, page: &str, code: &str) -> HandlerResult {
        redirect(&self.api.site, &done_address(page, code), None)
    }

    /// Shows a form with these values, or carries it out if it was sent, which leads to the page of
    /// its result. A form that is refused for its values is shown again.
    pub(super) async fn form<F: Future<Output = HandlerResult>>(
        &self,
        values: Entered,
        work: impl Future<Output = Result<String, ApiError>>,
        show: impl FnOnce(Entered) -> F,
    ) -> HandlerResult {
        if self.request.parts.method != Method::POST {
            return show(values).await;
        }
        match work.await {
            Ok(page) => redirect(&self.api.site, &page, None),
            Err(error) => show(self.entered.clone().refused(error, self.request.parts)?).await,
        }
    }

    /// Carries out a form with a token once, however often the same is sent. Returns the page of its
    /// result. After going back, other fields with this token are another form.
    pub(super) async fn once(
        &self,
        work: impl Future<Output = Result<String, ApiError>>,
    ) -> Result<String, ApiError> {
        // A program may leave the token out.
        if Uuid::parse_str(self.entered.value(TOKEN)).is_err() {
            return work.await;
        }
        let path = self.request.parts.uri.path();
        let form = Sha256::new().chain_update(path).chain_update("\n").chain_update(&self.sent);
        let key = (self.session.account, form.finalize().into());
        match self.api.extensions.get::<Replays>() {
            Some(replays) => replays.get_or_insert_async(&key, work).await,
            None => work.await,
        }
    }
}

/// Where the parts of a form with a file begin, if the request has one.
pub(super) fn boundary(parts: &Parts) -> Option<String> {
    let given = content_type(&parts.headers).filter(|_| parts.method == Method::POST)?;
    parse_boundary(std::str::from_utf8(given).ok()?).ok()
}

pub(super) fn query_bytes<'a>(request: &Request<'a>) -> &'a [u8] {
    request.parts.uri.query().unwrap_or_default().as_bytes()
}
