//! Faults in pages and cursors (PG, LI-01).

mod pages;

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::ask::{Answer, Ask};
use crate::fault::{Fault, How, fault};
use crate::front::{answers, asks, instead};
use crate::store::twisted;

use self::pages::{
    BorderSkipped, BorderTwice, ByOffset, EndsEarly, LastUpdatedFirst, LimitOnce, OneMore,
    WithoutType,
};

const LIST: &str = "GET /prompts";

pub(super) const ALL: &[Fault] = &[
    fault!(
        "pagination.default-21",
        "A page without limit holds 21 entries.",
        ["PG-02", "PG-04"],
        asks(LIST, |ask| if ask.parameter("limit").is_none() {
            ask.set_parameter("limit", Some("21"));
        })
    ),
    fault!(
        "pagination.default-10",
        "A page without limit holds 10 entries.",
        ["PG-02", "PG-04"],
        asks(LIST, |ask| if ask.parameter("limit").is_none() {
            ask.set_parameter("limit", Some("10"));
        })
    ),
    fault!(
        "pagination.limit-and-one",
        "A page holds one entry more than limit says.",
        ["PG-03", "PG-04", "PG-06", "PG-08", "PG-09"],
        asks(
            LIST,
            |ask| if let Some(limit) = limit(ask).filter(|limit| (1..100).contains(limit)) {
                ask.set_parameter("limit", Some(&(limit + 1).to_string()));
            }
        )
    ),
    fault!(
        "pagination.limit-of-first-page",
        "From the second page on limit is ignored.",
        ["PG-03", "PG-06", "PG-08"],
        How::Store(LIST, |inner| twisted(inner, LimitOnce))
    ),
    fault!(
        "pagination.limit-101",
        "A limit of 101 is taken for 100.",
        ["LI-01", "ER-06"],
        asks(LIST, |ask| if limit(ask) == Some(101) {
            ask.set_parameter("limit", Some("100"));
        })
    ),
    fault!(
        "pagination.limit-0",
        "A limit of 0 is taken for none.",
        ["LI-01", "ER-06", "ER-03"],
        asks(LIST, |ask| if limit(ask) == Some(0) {
            ask.set_parameter("limit", None);
        })
    ),
    fault!(
        "pagination.limit-negative",
        "A limit below 0 is taken without its sign.",
        ["LI-01", "ER-06"],
        asks(LIST, |ask| if let Some(limit) = limit(ask).filter(|limit| *limit < 0) {
            ask.set_parameter("limit", Some(&(-limit).to_string()));
        })
    ),
    fault!(
        "pagination.limit-100",
        "A limit of 100 is refused.",
        ["LI-01", "PG-06", "PR-14", "PG-03", "EN-07", "PG-08", "PR-13", "PR-16", "PR-27"],
        instead(LIST, |ask| (limit(ask) == Some(100)).then(|| crate::bounds::refusal("limit")))
    ),
    fault!(
        "pagination.limit-1",
        "A limit of 1 is refused.",
        [
            "LI-01", "PG-06", "PG-09", "EN-07", "PG-03", "PG-08", "PG-04", "PG-07", "PR-14",
            "PR-15", "HT-24"
        ],
        instead(LIST, |ask| (limit(ask) == Some(1)).then(|| crate::bounds::refusal("limit")))
    ),
    fault!(
        "pagination.limit-word",
        "A limit that is a word is taken for none.",
        ["PG-04"],
        asks(LIST, |ask| {
            if ask.parameter("limit").is_some_and(|limit| limit.chars().any(char::is_alphabetic)) {
                ask.set_parameter("limit", None);
            }
        })
    ),
    fault!(
        "pagination.limit-fraction",
        "A limit with a fraction is cut.",
        ["PG-04"],
        asks(LIST, |ask| {
            if let Some((whole, _)) = ask.parameter("limit").and_then(|limit| limit.split_once('.'))
            {
                let whole = whole.to_owned();
                ask.set_parameter("limit", Some(&whole));
            }
        })
    ),
    fault!(
        "pagination.cursor-without-type",
        "From the second page on the filter type is ignored.",
        ["PG-06", "PR-16"],
        How::Store(LIST, |inner| twisted(inner, WithoutType))
    ),
    fault!(
        "pagination.border-twice",
        "Each page begins with the last entry of the one before.",
        ["PG-06", "PG-03", "PG-08"],
        How::Store(LIST, |inner| twisted(inner, BorderTwice))
    ),
    fault!(
        "pagination.border-skipped",
        "Each page after the first one skips an entry.",
        ["PG-06", "PG-03", "PG-07", "PG-08"],
        How::Store(LIST, |inner| twisted(inner, BorderSkipped))
    ),
    fault!(
        "pagination.by-offset",
        "The pages of a vault are counted from the start of the list.",
        ["PG-06"],
        How::Store(LIST, |inner| twisted(inner, ByOffset::default()))
    ),
    fault!(
        "pagination.last-updated-first",
        "The list of a vault begins with what was updated last.",
        ["PG-06", "PG-05", "PR-15"],
        How::Store(LIST, |inner| twisted(inner, LastUpdatedFirst))
    ),
    fault!(
        "pagination.cursor-forgotten-with-type",
        "With type the cursor is ignored.",
        ["PG-06", "PG-09"],
        asks(LIST, |ask| if ask.parameter("type").is_some() {
            ask.set_parameter("cursor", None);
        })
    ),
    fault!(
        "pagination.cursor-after-the-end",
        "A full last page has a cursor to an empty one.",
        ["PG-08"],
        How::Store(LIST, |inner| twisted(inner, OneMore))
    ),
    fault!(
        "pagination.cursor-empty",
        "The nextCursor of the last page is an empty text.",
        [
            "PG-08", "PG-06", "PR-15", "PR-14", "PG-03", "PR-13", "PR-16", "PR-06", "EN-09",
            "PR-05", "PR-11", "EN-08", "GE-29", "PR-03", "PR-04", "PR-12"
        ],
        answers(LIST, |_, answer| answer.edit(|body| {
            if body["pagination"]["nextCursor"].is_null() && body["data"].is_array() {
                body["pagination"]["nextCursor"] = "".into();
            }
        }))
    ),
    fault!(
        "pagination.cursor-of-empty-list",
        "The list of an empty vault has a nextCursor.",
        ["PG-08", "PR-15", "PR-16", "GE-29"],
        of_empty()
    ),
    fault!(
        "pagination.ends-early",
        "The list ends when one entry is left.",
        ["PG-07", "PG-06", "PG-03", "PG-08", "PG-09"],
        How::Store(LIST, |inner| twisted(inner, EndsEarly))
    ),
    fault!(
        "pagination.cursor-once",
        "A cursor is good for one request.",
        ["PG-09", "PG-06", "PG-08", "PG-03", "PG-07", "LI-01"],
        once()
    ),
    fault!(
        "pagination.cursor-not-taken-back",
        "A cursor that comes back as it was given is not understood.",
        ["PG-09", "PG-06", "PG-03", "PG-08", "PG-05", "PG-07", "PR-15", "LI-01"],
        dashed()
    ),
    fault!(
        "pagination.cursor-mangled",
        "A cursor that is none begins the list anew.",
        ["PG-09", "PG-04", "ER-03"],
        crate::front::whole(LIST, |mut ask, upstream| async move {
            let answer = upstream.send(&ask).await;
            if answer.code() == 400 && ask.parameter("cursor").is_some() {
                ask.set_parameter("cursor", None);
                return upstream.send(&ask).await;
            }
            answer
        })
    ),
    fault!(
        "pagination.cursor-keeps-start",
        "A request without cursor goes on where the caller's last one stopped.",
        ["PG-05", "PG-06"],
        goes_on()
    ),
];

fn limit(ask: &Ask) -> Option<i64> {
    ask.parameter("limit")?.parse().ok()
}

fn of_empty() -> How {
    answers(LIST, |_, answer: &mut Answer| {
        answer.edit(|body| {
            if body["data"] == json!([]) {
                body["pagination"]["nextCursor"] = "end".into();
            }
        });
    })
}

fn once() -> How {
    let used: Mutex<HashSet<String>> = Mutex::default();
    instead(LIST, move |ask| {
        let cursor = ask.parameter("cursor")?.to_owned();
        let first = used.lock().unwrap_or_else(PoisonError::into_inner).insert(cursor);
        (!first).then(|| crate::bounds::refusal("cursor"))
    })
}

/// Gives cursors out that do not come back as they are known.
fn dashed() -> How {
    answers(LIST, |_, answer| {
        answer.edit(|body| {
            if let Some(cursor) = body["pagination"]["nextCursor"].as_str() {
                body["pagination"]["nextCursor"] = cursor.replacen(|_| true, "-", 1).into();
            }
        });
    })
}

/// Remembers where a list with a vaultId and a limit stopped.
fn goes_on() -> How {
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
