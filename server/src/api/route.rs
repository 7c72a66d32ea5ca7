//! A row of the route table, and what a program adds around the handlers: pages and middleware.

use std::time::Duration;

use futures::future::BoxFuture;
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method};

use super::{Api, HandlerResult, Request};
use crate::domain::{Caller, SessionRecord};
use crate::http::auth::Access;
use crate::http::browser::Site;
use crate::http::error::{ApiError, Problem};
use crate::http::response::Response;

type HandlerFuture<'a> = BoxFuture<'a, HandlerResult>;

#[derive(Clone, Copy, Debug)]
pub enum Handler {
    /// A handler that needs no key, or checks an upload token itself.
    Open(for<'a> fn(&'a Api, Request<'a>) -> HandlerFuture<'a>),
    Authed(for<'a> fn(&'a Api, &'a Caller, Request<'a>) -> HandlerFuture<'a>),
    /// As [`Handler::Open`], with failures as HTML. Pages are no part of the API document.
    Page(for<'a> fn(&'a Api, Request<'a>) -> HandlerFuture<'a>),
    /// A page that needs a session, and leads to the sign-in without one.
    Dashboard(for<'a> fn(&'a Api, &'a SessionRecord, Request<'a>) -> HandlerFuture<'a>),
}

#[derive(Clone, Debug)]
pub struct Route {
    /// In metrics and in the API document.
    pub name: &'static str,
    /// `GET` answers `HEAD` too. With [`Access::UploadToken`] the handler gets all but `OPTIONS`.
    pub method: Method,
    /// A template, below [`Route::base`].
    pub path: &'static str,
    /// [`BASE_PATH`](crate::domain::BASE_PATH), or nothing for a path at the root.
    pub base: &'static str,
    pub access: Access,
    pub handler: Handler,
}

impl Route {
    pub fn template(&self) -> String {
        format!("{}{}", self.base, self.path)
    }
}

/// How pages fail. Without it there are no pages, and every failure is JSON.
#[derive(Clone, Copy, Debug)]
pub struct Pages {
    /// The outcome of a page that needs a session: without one it leads to the sign-in.
    pub(crate) or_sign_in: fn(&Site, &Parts, HandlerResult) -> HandlerResult,
    /// Whether the failure of a request without a route is a page.
    pub(crate) asks_for_page: fn(&Parts) -> bool,
    /// The page of a failure, with the session of the reader and the id of the request.
    pub(crate) failure: fn(Problem, &Site, Option<&SessionRecord>, &str) -> Response,
}

/// A request whose response is known.
pub struct Answered<'a> {
    pub(crate) request: &'a Parts,
    pub(crate) request_id: &'a str,
    pub(crate) route: Option<&'a Route>,
    pub(crate) elapsed: Duration,
    pub(crate) error: Option<&'a ApiError>,
}

/// What happens around the handler of each request; by default nothing.
pub trait Middleware: Send + Sync {
    /// Counts a request of a caller, or refuses it. `headers` gets what the response says of that.
    fn admit(
        &self,
        _caller: &Caller,
        _route: &str,
        _headers: &mut Vec<(HeaderName, HeaderValue)>,
    ) -> Result<(), ApiError> {
        Ok(())
    }

    /// Notes a request, and returns its response as it is sent.
    fn finish(&self, _answered: &Answered<'_>, response: Response) -> Response {
        response
    }
}

/// None.
impl Middleware for () {}
