//! A request for a page by somebody who is signed in.

use bytes::Bytes;
use http::Method;
use maud::{Markup, html};
use uuid::Uuid;

use super::forms::{Entered, TOKEN};
use super::layout::{Page, done_address, redirect};
use crate::api::{Api, HandlerResult, Request};
use crate::domain::{Caller, SessionRecord};
use crate::http::body::{BodyReadError, FORM};
use crate::http::error::ApiError;
use crate::store::Store;

pub(crate) struct Visit<'a> {
    pub(super) api: &'a Api,
    pub(super) session: &'a SessionRecord,
    pub(super) caller: Caller,
    pub(super) request: Request<'a>,
}

impl<'a> Visit<'a> {
    pub(crate) const fn new(
        api: &'a Api,
        session: &'a SessionRecord,
        request: Request<'a>,
    ) -> Self {
        Self { api, session, caller: session.caller(), request }
    }

    pub(super) fn store(&self) -> &'a dyn Store {
        &*self.api.store
    }

    /// The values of the query.
    pub(super) fn query(&self) -> Entered {
        Entered::parse(query_bytes(&self.request))
    }

    /// The body of the form that was sent.
    pub(super) async fn form(&mut self) -> Result<Bytes, BodyReadError> {
        self.request.body(FORM).await
    }

    /// A page of this section of the navigation, with what the form before it has done.
    pub(super) fn page(&self, section: &'static str, title: impl Into<String>) -> Page<'a> {
        let mut page = Page::open(&self.api.site, title);
        // A refused form may have been sent to the address of a page that said so.
        if self.request.parts.method != Method::POST {
            page.done = self.query().value("done").into();
        }
        Page { session: Some(self.session), section: Some(section), ..page }
    }

    /// The address of a page.
    pub(super) fn at(&self, page: &str) -> String {
        self.api.site.page(page)
    }

    pub(super) fn link(&self, page: &str, text: &str) -> Markup {
        html! { a href=(self.at(page)) { (text) } }
    }

    /// A link that looks like a button.
    pub(super) fn button(&self, page: &str, text: &str) -> Markup {
        html! { a .button href=(self.at(page)) { (text) } }
    }

    /// As [`Visit::button`], for what most people want on a page.
    pub(super) fn main_button(&self, page: &str, text: &str) -> Markup {
        html! { a .button.main href=(self.at(page)) { (text) } }
    }

    /// The values of a refused form, to show it again.
    ///
    /// # Errors
    /// The refusal, if another attempt with other values is no help.
    pub(super) fn refused(&self, form: &[u8], error: ApiError) -> Result<Entered, ApiError> {
        Entered::parse(form).refused(error, self.request.parts)
    }

    pub(super) fn redirect(&self, page: &str) -> HandlerResult {
        redirect(&self.api.site, page, None)
    }

    /// Leads to a page that says what was done; see [`done_address`].
    pub(super) fn done(&self, page: &str, code: &str) -> HandlerResult {
        self.redirect(&done_address(page, code))
    }

    /// Carries out a form with a token once, however often it is sent. Returns the page of its result.
    pub(super) async fn once<F: Future<Output = Result<String, ApiError>>>(
        &self,
        form: &[u8],
        work: impl FnOnce() -> F,
    ) -> Result<String, ApiError> {
        match Uuid::parse_str(Entered::parse(form).value(TOKEN)) {
            Ok(token) => {
                self.api.replays.get_or_insert_async(&(self.session.account, token), work()).await
            }
            // A program may leave it out.
            Err(_) => work().await,
        }
    }
}

/// The query of a request, or nothing.
pub(super) fn query_bytes<'a>(request: &Request<'a>) -> &'a [u8] {
    request.parts.uri.query().unwrap_or_default().as_bytes()
}
