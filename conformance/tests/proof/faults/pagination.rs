//! Faults in pages and cursors (PG, LI-01).

mod pages;

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use crate::bounds::parameter_as;
use crate::entries::entries;
use crate::exchange::{Request, Response};
use crate::fault::{Fault, Intercept, fault};
use crate::front::{answers, asks, edits_answer, refused, whole, whole_with};
use crate::shared::Shared;
use crate::store::in_store;

use self::pages::{
    BorderSkipped, BorderTwice, ByOffset, EndsEarly, LastUpdatedFirst, LimitOnce, OneMore,
    WithoutType,
};

const LIST: &str = "GET /prompts";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "pagination.default-21" ["PG-02"] default_limit("21"),
        "A page without limit holds 21 entries." },
    fault! { "pagination.default-19" ["PG-02"] default_limit("19"),
        "A page without limit holds 19 entries." },
    fault! { "pagination.limit-less-one" ["PG-03"] limit_as(|limit| {
        limit.parse::<i64>().ok().filter(|limit| *limit > 1).map(|limit| (limit - 1).to_string())
    }),
        "A page holds one entry less than limit says." },
    fault! { "pagination.vault-of-first-page" ["PR-15"]
        of_first_page("vaultId", |one, vault| one["vaultIds"].as_array().is_none_or(|ids| {
            !ids.iter().any(|id| id.as_i64() == vault.parse().ok())
        })),
        "The filter by vault holds on the first page only." },
    fault! { "pagination.type-of-first-page" ["PR-16"]
        of_first_page("type", |one, kind| one["promptType"] != kind),
        "The filter by type holds on the first page only." },
    fault! { "pagination.default-10" ["PG-02"] default_limit("10"),
        "A page without limit holds 10 entries." },
    fault! { "pagination.limit-and-one" ["PG-03"] limit_as(|limit| {
        let number = limit.parse::<i64>().ok().filter(|number| (1..100).contains(number));
        Some(number.map_or_else(|| limit.to_owned(), |number| (number + 1).to_string()))
    }),
        "A page holds one entry more than limit says." },
    fault! { "pagination.limit-of-first-page" ["PG-03"] in_store(LIST, LimitOnce),
        "From the second page on limit is ignored." },
    fault! { "pagination.limit-101" ["LI-01"]
        limit_as(|limit| Some(if limit == "101" { "100" } else { limit }.to_owned())),
        "A limit of 101 is taken for 100." },
    fault! { "pagination.limit-0" ["LI-01"]
        limit_as(|limit| (limit.parse() != Ok(0)).then(|| limit.to_owned())),
        "A limit of 0 is taken for none." },
    fault! { "pagination.limit-negative" ["LI-01"] limit_as(|limit| {
        let negative = limit.parse::<i64>().is_ok_and(|limit| limit < 0);
        Some(if negative { limit.trim_start_matches('-') } else { limit }.to_owned())
    }),
        "A limit below 0 is taken without its sign." },
    fault! { "pagination.limit-100" ["LI-01"] refused(LIST, 400, |request| limit(request) == Some(100)),
        "A limit of 100 is refused." },
    fault! { "pagination.limit-1" ["LI-01"] refused(LIST, 400, |request| limit(request) == Some(1)),
        "A limit of 1 is refused." },
    fault! { "pagination.limit-word" ["PG-04"]
        limit_as(|limit| (!limit.contains(char::is_alphabetic)).then(|| limit.to_owned())),
        "A limit that is a word is taken for none." },
    fault! { "pagination.limit-fraction" ["PG-04"]
        limit_as(|limit| limit.split('.').next().map(str::to_owned)),
        "A limit with a fraction is cut." },
    fault! { "pagination.cursor-without-type" ["PG-06"] in_store(LIST, WithoutType),
        "From the second page on the filter type is ignored." },
    fault! { "pagination.border-twice" ["PG-06"] in_store(LIST, BorderTwice),
        "Each page begins with the last entry of the one before." },
    fault! { "pagination.border-skipped" ["PG-06"] in_store(LIST, BorderSkipped),
        "Each page after the first one skips an entry." },
    fault! { "pagination.by-offset" ["PG-06"] in_store(LIST, ByOffset::default()),
        "The pages of a vault are counted from the start of the list." },
    fault! { "pagination.last-updated-first" ["PG-06"] in_store(LIST, LastUpdatedFirst),
        "The list of a vault begins with what was updated last." },
    fault! { "pagination.cursor-forgotten-with-type" ["PG-06"] asks(LIST, |request| {
        if request.parameter("type").is_some() {
            request.set_parameter("cursor", None);
        }
    }),
        "With type the cursor is ignored." },
    fault! { "pagination.cursor-after-the-end" ["PG-08"] in_store(LIST, OneMore),
        "A full last page has a cursor to an empty one." },
    fault! { "pagination.cursor-empty" ["PG-08"] edits_answer(LIST, |body| {
        if body["pagination"]["nextCursor"].is_null() && body["data"].is_array() {
            body["pagination"]["nextCursor"] = "".into();
        }
    }),
        "The nextCursor of the last page is an empty text." },
    fault! { "pagination.cursor-of-empty-list" ["PG-08"] of_empty(),
        "The list of an empty vault has a nextCursor." },
    fault! { "pagination.ends-early" ["PG-07"] in_store(LIST, EndsEarly),
        "The list ends when one entry is left." },
    fault! { "pagination.cursor-once" ["PG-09"] once(),
        "A cursor is good for one request." },
    fault! { "pagination.cursor-not-taken-back" ["PG-09"] dashed(),
        "A cursor that comes back as it was given is not understood." },
    fault! { "pagination.cursor-mangled" ["PG-09"] whole(LIST, |mut request, upstream| async move {
        let response = upstream.send(&request).await;
        if response.code() == 400 && request.parameter("cursor").is_some() {
            request.set_parameter("cursor", None);
            return upstream.send(&request).await;
        }
        response
    }),
        "A cursor that is none begins the list anew." },
    fault! { "pagination.cursor-keeps-start" ["PG-05"] goes_on(),
        "A request without cursor goes on where the caller's last one stopped." },
];

fn limit(request: &Request) -> Option<i64> {
    request.parameter("limit")?.parse().ok()
}

fn limit_as(taken: fn(&str) -> Option<String>) -> Intercept {
    parameter_as(LIST, "limit", taken)
}

fn default_limit(limit: &'static str) -> Intercept {
    asks(LIST, move |request| {
        if request.parameter("limit").is_none() {
            request.set_parameter("limit", Some(limit));
        }
    })
}

/// Later pages of a list with a filter have an entry that the filter leaves out.
fn of_first_page(filter: &'static str, is_out: fn(&Value, &str) -> bool) -> Intercept {
    whole(LIST, move |request, upstream| async move {
        let mut response = upstream.send(&request).await;
        if let (Some(value), Some(_)) = (request.parameter(filter), request.parameter("cursor")) {
            let all = upstream.list(&request, "/prompts?limit=100").await;
            let other = all.into_iter().find(|one| is_out(one, value));
            entries(&mut response, |page| page.extend(other));
        }
        response
    })
}

fn of_empty() -> Intercept {
    answers(LIST, |_, response: &mut Response| {
        response.edit(|body| {
            if body["data"] == json!([]) {
                body["pagination"]["nextCursor"] = "end".into();
            }
        });
    })
}

fn once() -> Intercept {
    let used = Shared::<HashSet<String>>::default();
    refused(LIST, 400, move |request| {
        request
            .parameter("cursor")
            .is_some_and(|cursor| !used.with(|used| used.insert(cursor.into())))
    })
}

/// Gives cursors out that do not come back as they are known.
fn dashed() -> Intercept {
    answers(LIST, |_, response| {
        response.edit(|body| {
            if let Some(cursor) = body["pagination"]["nextCursor"].as_str() {
                body["pagination"]["nextCursor"] = cursor.replacen(|_| true, "-", 1).into();
            }
        });
    })
}

/// Remembers where a list with a vaultId and a limit stopped.
fn goes_on() -> Intercept {
    whole_with(LIST, |mut request, upstream, stops: Shared<HashMap<String, Value>>| async move {
        if request.parameter("vaultId").is_none() {
            return upstream.send(&request).await;
        }
        let mut list = request.clone();
        list.set_parameter("cursor", None);
        let list = format!("{} {}", request.authorization(), list.query.unwrap_or_default());
        let stop = stops.with(|stops| stops.get(&list).cloned());
        if let (None, Some(Value::String(stop))) = (request.parameter("cursor"), stop) {
            request.set_parameter("cursor", Some(&stop));
        }
        let response = upstream.send(&request).await;
        let next = response.json()["pagination"]["nextCursor"].take();
        stops.with(|stops| stops.insert(list, next));
        response
    })
}
