//! Faults in what a server takes and answers: which requests one looks at, and
//! what it makes of them.

use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use http::Method;
use serde_json::Value;

use crate::exchange::{Request, Response, entries};
use crate::fault::Intercept;
use crate::proxy::Upstream;

type Run = dyn Fn(Request, Upstream) -> BoxFuture<'static, Response> + Send + Sync;

/// What stands in front of a good server.
#[derive(Clone)]
pub(crate) struct Front {
    pub(crate) routes: &'static str,
    run: Arc<Run>,
}

impl Front {
    /// Whether it looks at such a request; all others pass untouched.
    pub(crate) fn looks_at(&self, method: &Method, path: &str) -> bool {
        any_matches(self.routes, method, path)
    }

    pub(crate) async fn respond(&self, request: Request, upstream: Upstream) -> Response {
        (self.run)(request, upstream).await
    }
}

/// A value that all requests of one service see; copies are the same value.
#[derive(Default)]
pub(crate) struct Shared<T>(Arc<Mutex<T>>);

impl<T> Shared<T> {
    /// Reads or changes it.
    pub(crate) fn with<R>(&self, act: impl FnOnce(&mut T) -> R) -> R {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// Paths of every kind that the service has, below the root of the API and beside it.
const PATHS: &str = "/prompts /prompts/7 /prompts/7/save /vaults /vaults/7 /vaults/7/fork \
    /vaults/7/prompts /vaults/7/prompts/8 /vaults/7/prompts/8/pin /vaults/7/prompts/8/move \
    /generations /generations/j/status /uploads/images /api-keys /api-keys/p /storage/images/a.png \
    /assets/a.png /sign-in /sign-out /healthz /readyz /api/v2/vaults /api/V1/vaults /api/vaults";
const METHODS: &str = "* GET POST PUT PATCH DELETE HEAD OPTIONS";

/// The routes of these that no request of the service can have.
pub(crate) fn unknown_routes(routes: &str) -> Vec<&str> {
    let is_known = |route: &&str| {
        let (method, _) = route.split_once(' ').unwrap_or(("*", route));
        let sample = method.parse().unwrap_or_default();
        METHODS.split(' ').any(|one| one == method)
            && PATHS.split_whitespace().any(|path| matches(route, &sample, path))
    };
    routes.split(',').map(str::trim).filter(|route| !is_known(route)).collect()
}

/// Whether one of the routes, separated by commas, is that of a request.
pub(crate) fn any_matches(routes: &str, method: &Method, path: &str) -> bool {
    routes.split(',').any(|route| matches(route.trim(), method, path))
}

/// `POST /prompts`: `*` is any method or any one segment, `**` is all the rest.
fn matches(route: &str, method: &Method, path: &str) -> bool {
    let (wanted, pattern) = route.split_once(' ').unwrap_or(("*", route));
    if wanted != "*" && wanted != method.as_str() {
        return false;
    }
    let mut segments = path.trim_start_matches('/').split('/');
    for part in pattern.trim_start_matches('/').split('/') {
        match (part, segments.next()) {
            ("**", _) => return true,
            ("*", Some(segment)) if !segment.is_empty() => {}
            (part, Some(segment)) if part == segment => {}
            _ => return false,
        }
    }
    segments.next().is_none()
}

/// Handles requests of these routes (`METHOD /path`, separated by commas) in its
/// own way, with the good server at hand.
pub(crate) fn whole<F>(
    routes: &'static str,
    run: impl Fn(Request, Upstream) -> F + Send + Sync + 'static,
) -> Intercept
where
    F: Future<Output = Response> + Send + 'static,
{
    let run = Arc::new(move |request, upstream| -> BoxFuture<'static, Response> {
        Box::pin(run(request, upstream))
    });
    Intercept::Front(Front { routes, run })
}

/// As [`whole`], with a state that all requests share.
pub(crate) fn whole_with<S, F>(
    routes: &'static str,
    run: impl Fn(Request, Upstream, Shared<S>) -> F + Send + Sync + 'static,
) -> Intercept
where
    S: Default + Send + 'static,
    F: Future<Output = Response> + Send + 'static,
{
    let state = Shared::default();
    whole(routes, move |request, upstream| run(request, upstream, state.clone()))
}

/// Answers as the good server does, and then sends that another request too.
pub(crate) fn and_sends(
    routes: &'static str,
    other: impl Fn(Request, &Response) -> Option<Request> + Copy + Send + Sync + 'static,
) -> Intercept {
    whole(routes, move |request, upstream| async move {
        let response = upstream.send(&request).await;
        if let Some(other) = other(request, &response) {
            upstream.send(&other).await;
        }
        response
    })
}

/// Changes requests.
pub(crate) fn asks(
    routes: &'static str,
    change: impl Fn(&mut Request) + Send + Sync + 'static,
) -> Intercept {
    whole(routes, move |mut request, upstream| {
        change(&mut request);
        async move { upstream.send(&request).await }
    })
}

/// Changes answers.
pub(crate) fn answers(
    routes: &'static str,
    change: impl Fn(&Request, &mut Response) + Send + Sync + 'static,
) -> Intercept {
    let change = Arc::new(change);
    whole(routes, move |request, upstream| {
        let change = Arc::clone(&change);
        async move {
            let mut response = upstream.send(&request).await;
            change(&request, &mut response);
            response
        }
    })
}

/// As [`answers`], with a state that all requests share.
pub(crate) fn answers_with<S: Default + Send + 'static>(
    routes: &'static str,
    change: impl Fn(&mut S, &Request, &mut Response) + Send + Sync + 'static,
) -> Intercept {
    let state = Shared::default();
    answers(routes, move |request, response| state.with(|state| change(state, request, response)))
}

/// Changes the JSON bodies of requests.
pub(crate) fn edits(
    routes: &'static str,
    change: impl Fn(&mut Value) + Send + Sync + 'static,
) -> Intercept {
    asks(routes, move |request| request.edit(&change))
}

/// Changes the JSON bodies of answers.
pub(crate) fn edits_answer(
    routes: &'static str,
    change: impl Fn(&mut Value) + Send + Sync + 'static,
) -> Intercept {
    answers(routes, move |_, response| response.edit(&change))
}

/// Changes the `data` of successes.
pub(crate) fn edits_data(
    routes: &'static str,
    change: impl Fn(&mut Value) + Send + Sync + 'static,
) -> Intercept {
    answers(routes, move |_, response| response.edit_data(&change))
}

/// Changes the `data` of successes, or each entry where it is a list.
pub(crate) fn edits_each(
    routes: &'static str,
    change: impl Fn(&mut Value) + Send + Sync + 'static,
) -> Intercept {
    answers(routes, move |_, response| response.each(&change))
}

/// Changes the JSON bodies of successes.
pub(crate) fn edits_success(
    routes: &'static str,
    change: impl Fn(&mut Value) + Send + Sync + 'static,
) -> Intercept {
    answers(routes, move |_, response| {
        if response.is_success() {
            response.edit(&change);
        }
    })
}

/// Answers successes with 204 and no body.
pub(crate) fn no_content(routes: &'static str) -> Intercept {
    answers(routes, |_, response| {
        if response.is_success() {
            response.set_code(204);
            response.body.clear();
        }
    })
}

/// Changes the entries of successes whose `data` is a list.
pub(crate) fn edits_entries(
    routes: &'static str,
    change: impl Fn(&mut Vec<Value>) + Send + Sync + 'static,
) -> Intercept {
    answers(routes, move |_, response| entries(response, &change))
}

/// Answers successes with another status.
pub(crate) fn status_instead(routes: &'static str, status: u16) -> Intercept {
    answers(routes, move |_, response| {
        if response.is_success() {
            response.set_code(status);
        }
    })
}

/// Answers with `code` in place of another status to requests for which `when` holds.
pub(crate) fn code_instead(
    routes: &'static str,
    instead_of: u16,
    code: u16,
    when: impl Fn(&Request) -> bool + Send + Sync + 'static,
) -> Intercept {
    answers(routes, move |request, response| {
        if response.code() == instead_of && when(request) {
            response.set_code(code);
        }
    })
}

/// Refuses requests for which `when` holds.
pub(crate) fn refused(
    routes: &'static str,
    code: u16,
    when: impl Fn(&Request) -> bool + Send + Sync + 'static,
) -> Intercept {
    instead(routes, move |request| when(request).then(|| Response::refusal(code, "It is refused.")))
}

/// Answers some requests itself, without asking the good server.
pub(crate) fn instead(
    routes: &'static str,
    respond: impl Fn(&Request) -> Option<Response> + Send + Sync + 'static,
) -> Intercept {
    whole(routes, move |request, upstream| {
        let response = respond(&request);
        async move {
            match response {
                Some(response) => response,
                None => upstream.send(&request).await,
            }
        }
    })
}

/// Changes nothing.
pub(crate) fn nothing() -> Intercept {
    asks("* /**", |_| ())
}
