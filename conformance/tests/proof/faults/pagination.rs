//! Faults in pages and cursors (PG, LI-01).

mod pages;

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::bounds::refusal;
use crate::exchange::{Request, Response};
use crate::fault::{Fault, Intercept, fault};
use crate::front::{answers, asks, edits_answer, instead, whole};
use crate::store::with_fault;

use self::pages::{
    BorderSkipped, BorderTwice, ByOffset, EndsEarly, LastUpdatedFirst, LimitOnce, OneMore,
    WithoutType,
};

const LIST: &str = "GET /prompts";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "pagination.default-21" ["PG-02"] asks(LIST, |ask| {
        if ask.parameter("limit").is_none() {
            ask.set_parameter("limit", Some("21"));
        }
    }),
        "A page without limit holds 21 entries." },
    fault! { "pagination.default-10" ["PG-02"] asks(LIST, |ask| {
        if ask.parameter("limit").is_none() {
            ask.set_parameter("limit", Some("10"));
        }
    }),
        "A page without limit holds 10 entries." },
    fault! { "pagination.limit-and-one" ["PG-03"] asks(LIST, |ask| {
        if let Some(limit) = limit(ask).filter(|limit| (1..100).contains(limit)) {
            ask.set_parameter("limit", Some(&(limit + 1).to_string()));
        }
    }),
        "A page holds one entry more than limit says." },
    fault! { "pagination.limit-of-first-page" ["PG-03"]
        Intercept::Store(LIST, |inner| with_fault(inner, LimitOnce)),
        "From the second page on limit is ignored." },
    fault! { "pagination.limit-101" ["LI-01"] asks(LIST, |ask| {
        if limit(ask) == Some(101) {
            ask.set_parameter("limit", Some("100"));
        }
    }),
        "A limit of 101 is taken for 100." },
    fault! { "pagination.limit-0" ["LI-01"] asks(LIST, |ask| {
        if limit(ask) == Some(0) {
            ask.set_parameter("limit", None);
        }
    }),
        "A limit of 0 is taken for none." },
    fault! { "pagination.limit-negative" ["LI-01"] asks(LIST, |ask| {
        if let Some(limit) = limit(ask).filter(|limit| *limit < 0) {
            ask.set_parameter("limit", Some(&(-limit).to_string()));
        }
    }),
        "A limit below 0 is taken without its sign." },
    fault! { "pagination.limit-100" ["LI-01"]
        instead(LIST, |ask| (limit(ask) == Some(100)).then(|| refusal("limit"))),
        "A limit of 100 is refused." },
    fault! { "pagination.limit-1" ["LI-01"]
        instead(LIST, |ask| (limit(ask) == Some(1)).then(|| refusal("limit"))),
        "A limit of 1 is refused." },
    fault! { "pagination.limit-word" ["PG-04"] asks(LIST, |ask| {
        if ask.parameter("limit").is_some_and(|limit| limit.chars().any(char::is_alphabetic)) {
            ask.set_parameter("limit", None);
        }
    }),
        "A limit that is a word is taken for none." },
    fault! { "pagination.limit-fraction" ["PG-04"] asks(LIST, |ask| {
        if let Some((whole, _)) = ask.parameter("limit").and_then(|limit| limit.split_once('.')) {
            let whole = whole.to_owned();
            ask.set_parameter("limit", Some(&whole));
        }
    }),
        "A limit with a fraction is cut." },
    fault! { "pagination.cursor-without-type" ["PG-06"]
        Intercept::Store(LIST, |inner| with_fault(inner, WithoutType)),
        "From the second page on the filter type is ignored." },
    fault! { "pagination.border-twice" ["PG-06"]
        Intercept::Store(LIST, |inner| with_fault(inner, BorderTwice)),
        "Each page begins with the last entry of the one before." },
    fault! { "pagination.border-skipped" ["PG-06"]
        Intercept::Store(LIST, |inner| with_fault(inner, BorderSkipped)),
        "Each page after the first one skips an entry." },
    fault! { "pagination.by-offset" ["PG-06"]
        Intercept::Store(LIST, |inner| with_fault(inner, ByOffset::default())),
        "The pages of a vault are counted from the start of the list." },
    fault! { "pagination.last-updated-first" ["PG-06"]
        Intercept::Store(LIST, |inner| with_fault(inner, LastUpdatedFirst)),
        "The list of a vault begins with what was updated last." },
    fault! { "pagination.cursor-forgotten-with-type" ["PG-06"] asks(LIST, |ask| {
        if ask.parameter("type").is_some() {
            ask.set_parameter("cursor", None);
        }
    }),
        "With type the cursor is ignored." },
    fault! { "pagination.cursor-after-the-end" ["PG-08"]
        Intercept::Store(LIST, |inner| with_fault(inner, OneMore)),
        "A full last page has a cursor to an empty one." },
    fault! { "pagination.cursor-empty" ["PG-08"] edits_answer(LIST, |body| {
        if body["pagination"]["nextCursor"].is_null() && body["data"].is_array() {
            body["pagination"]["nextCursor"] = "".into();
        }
    }),
        "The nextCursor of the last page is an empty text." },
    fault! { "pagination.cursor-of-empty-list" ["PG-08"] of_empty(),
        "The list of an empty vault has a nextCursor." },
    fault! { "pagination.ends-early" ["PG-07"] Intercept::Store(LIST, |inner| with_fault(inner, EndsEarly)),
        "The list ends when one entry is left." },
    fault! { "pagination.cursor-once" ["PG-09"] once(),
        "A cursor is good for one request." },
    fault! { "pagination.cursor-not-taken-back" ["PG-09"] dashed(),
        "A cursor that comes back as it was given is not understood." },
    fault! { "pagination.cursor-mangled" ["PG-09"] whole(LIST, |mut ask, upstream| async move {
        let answer = upstream.send(&ask).await;
        if answer.code() == 400 && ask.parameter("cursor").is_some() {
            ask.set_parameter("cursor", None);
            return upstream.send(&ask).await;
        }
        answer
    }),
        "A cursor that is none begins the list anew." },
    fault! { "pagination.cursor-keeps-start" ["PG-05"] goes_on(),
        "A request without cursor goes on where the caller's last one stopped." },
];

fn limit(ask: &Request) -> Option<i64> {
    ask.parameter("limit")?.parse().ok()
}

fn of_empty() -> Intercept {
    answers(LIST, |_, answer: &mut Response| {
        answer.edit(|body| {
            if body["data"] == json!([]) {
                body["pagination"]["nextCursor"] = "end".into();
            }
        });
    })
}

fn once() -> Intercept {
    let used: Mutex<HashSet<String>> = Mutex::default();
    instead(LIST, move |ask| {
        let cursor = ask.parameter("cursor")?.to_owned();
        let first = used.lock().unwrap_or_else(PoisonError::into_inner).insert(cursor);
        (!first).then(|| crate::bounds::refusal("cursor"))
    })
}

/// Gives cursors out that do not come back as they are known.
fn dashed() -> Intercept {
    answers(LIST, |_, answer| {
        answer.edit(|body| {
            if let Some(cursor) = body["pagination"]["nextCursor"].as_str() {
                body["pagination"]["nextCursor"] = cursor.replacen(|_| true, "-", 1).into();
            }
        });
    })
}

/// Remembers where a list with a vaultId and a limit stopped.
fn goes_on() -> Intercept {
    let stops: std::sync::Arc<Mutex<HashMap<String, Value>>> = std::sync::Arc::default();
    crate::front::whole(LIST, move |mut ask, upstream| {
        let stops = std::sync::Arc::clone(&stops);
        async move {
            if ask.parameter("vaultId").is_none() {
                return upstream.send(&ask).await;
            }
            let mut list = ask.clone();
            list.set_parameter("cursor", None);
            let list = format!("{} {}", ask.authorization(), list.query.unwrap_or_default());
            let stop = stops.lock().unwrap_or_else(PoisonError::into_inner).get(&list).cloned();
            if let (None, Some(Value::String(stop))) = (ask.parameter("cursor"), stop) {
                ask.set_parameter("cursor", Some(&stop));
            }
            let answer = upstream.send(&ask).await;
            let next = answer.json()["pagination"]["nextCursor"].take();
            stops.lock().unwrap_or_else(PoisonError::into_inner).insert(list, next);
            answer
        }
    })
}
