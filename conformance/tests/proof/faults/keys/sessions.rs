//! Faults in browser sessions and the requests they are good for (KE-05, AU-02).

use http::HeaderValue;
use http::header::{AUTHORIZATION, COOKIE, ORIGIN, REFERER, SET_COOKIE};

use crate::faults::keys::let_in;
use crate::prelude::*;

const ALL_PATHS: &str = "* /**";
const SIGN_IN: &str = "POST /sign-in";
const KEYS: &str = "* /api-keys, * /api-keys/*";
const FETCH_SITE: &str = "sec-fetch-site";
const NAME: &str = "promptarium_session=";
pub(in crate::faults) const ALL: &[Fault] = &[
    fault! { "sessions.cookie-for-scripts" ["KE-05"] cookie_without("; HttpOnly"),
    "The cookie of a session is not HttpOnly." },
    fault! { "sessions.cookie-for-all-sites" ["KE-05"] cookie_without("; SameSite=Lax"),
    "The cookie of a session has no SameSite." },
    fault! { "sessions.cookie-of-a-path" ["KE-05"] cookie_without("; Path=/"),
    "The cookie of a session is that of one path." },
    fault! { "sessions.code-twice" ["KE-05"] {
        answers_with(SIGN_IN, move |first: &mut Option<Response>, _, response| {
            let first = first.get_or_insert_with(|| response.clone()).clone();
            *response = first;
        })
    },
        "A sign-in code works again." },
    fault! { "sessions.first-of-two-cookies" ["KE-05"] asks(KEYS, |request| {
        let first = cookie(request).split(';').next().unwrap_or_default().to_owned();
        set(request, COOKIE.as_str(), &first);
    }),
        "Of two cookies of the session the first one counts." },
    fault! { "sessions.beside-a-key" ["KE-05"] asks(KEYS, |request| {
        if has_session(request) {
            request.headers.remove(AUTHORIZATION);
        }
    }),
        "An API key beside a session is not looked at." },
    fault! { "sessions.as-a-key" ["AU-02"] let_in(ALL_PATHS, |request| {
        let of_keys = matches!(request.segment(0), "api-keys" | "sign-in");
        has_session(request) && request.authorization().is_empty() && !of_keys
    }),
        "A session is as good as a key for the whole API." },
    fault! { "sessions.from-any-site" ["KE-05"] own_if(has_session),
    "Nobody looks at where a request in a session comes from." },
    fault! { "sessions.from-no-site" ["KE-05"] own_if(|request| {
        let named = [FETCH_SITE, "origin", "referer"];
        has_session(request) && !named.iter().any(|name| request.headers.contains_key(*name))
    }),
        "A request that does not say where it comes from is taken in a session." },
    fault! { "sessions.from-the-same-site" ["KE-05"] own_if(|request| is(request, FETCH_SITE, "same-site")),
    "A request of a page on a neighbouring host is taken in a session." },
    fault! { "sessions.own-origin-believed" ["KE-05"] own_if(|request| {
        is(request, FETCH_SITE, "cross-site") && request.headers.contains_key(ORIGIN)
    }),
        "The own origin is believed whatever Sec-Fetch-Site says." },
    fault! { "sessions.from-null" ["KE-05"] own_if(|request| is(request, "origin", "null")),
    "The origin null is taken for the own one." },
    fault! { "sessions.referer-believed" ["KE-05"] own_if(|request| request.headers.contains_key(REFERER)),
    "Referer is as good as Origin." },
    fault! { "sessions.refused-and-done" ["KE-05"]
        and_sends("POST /api-keys, DELETE /api-keys/*", |mut request, response| {
        own(&mut request);
        (response.code() == 403).then_some(request)
    }),
        "What another site asks for in a session is answered 403, and done." },
    fault! { "sessions.origin-not-enough" ["KE-05"] refused("POST /api-keys", 403, |request| {
        has_session(request) && !request.headers.contains_key(FETCH_SITE)
    }),
        "Without Sec-Fetch-Site no request is taken in a session." },
];

fn cookie(request: &Request) -> &str {
    request.headers.get(COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

pub(super) fn has_session(request: &Request) -> bool {
    cookie(request).starts_with(NAME)
}

fn is(request: &Request, name: &str, value: &str) -> bool {
    request.headers.get(name).is_some_and(|one| one == value)
}

fn set(request: &mut Request, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value)
        && request.headers.contains_key(name)
    {
        request.headers.insert(name, value);
    }
}

/// As if a page of the server's own had sent it.
fn own(request: &mut Request) {
    request.headers.insert(FETCH_SITE, HeaderValue::from_static("same-origin"));
}

/// Requests in a session for which `when` holds pass for those of the server's own page.
fn own_if(when: fn(&Request) -> bool) -> Intercept {
    asks(KEYS, move |request| {
        if when(request) {
            own(request);
        }
    })
}

fn cookie_without(attribute: &'static str) -> Intercept {
    answers(SIGN_IN, move |_, response| {
        let line = response.headers.get(SET_COOKIE).and_then(|line| line.to_str().ok());
        let changed = line.map(|line| line.replace(attribute, ""));
        if let Some(Ok(line)) = changed.map(HeaderValue::try_from) {
            response.headers.insert(SET_COOKIE, line);
        }
    })
}
