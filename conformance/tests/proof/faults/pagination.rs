//! Faults in pages and cursors (PG, LI-01).

use crate::prelude::*;

const LIST: &str = "GET /prompts";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "pagination.default-19" ["PG-02"] default_limit("19") },
    // A page holds one entry less than limit says.
    fault! { "pagination.limit-less-one" ["PG-03"] limit_as(|limit| {
        limit.parse::<i64>().ok().filter(|limit| *limit > 1).map(|limit| (limit - 1).to_string())
    }) },
    fault! { "pagination.type-of-first-page" ["PR-16"]
        of_first_page("type", |one, kind| one["promptType"] != kind) },
    fault! { "pagination.default-10" ["PG-02"] default_limit("10") },
    // A page holds one entry more than limit says.
    fault! { "pagination.limit-and-one" ["PG-03"] limit_as(|limit| {
        let number = limit.parse::<i64>().ok().filter(|number| (1..100).contains(number));
        Some(number.map_or_else(|| limit.to_owned(), |number| (number + 1).to_string()))
    }) },
    fault! { "pagination.limit-1" ["LI-01"] refused(LIST, 400, |request| limit(request) == Some(1)) },
    fault! { "pagination.limit-fraction" ["PG-04"]
        limit_as(|limit| limit.split('.').next().map(str::to_owned)) },
    fault! { "pagination.border-twice" ["PG-06"] border(true) },
    fault! { "pagination.border-skipped" ["PG-06"] border(false) },
    fault! { "pagination.cursor-after-the-end" ["PG-08"] one_more() },
    // The nextCursor of the last page is an empty text.
    fault! { "pagination.cursor-empty" ["PG-08"] edits_answer(LIST, |body| {
        if body["pagination"]["nextCursor"].is_null() && body["data"].is_array() {
            body["pagination"]["nextCursor"] = "".into();
        }
    }) },
    fault! { "pagination.cursor-once" ["PG-09"] once() },
    // A cursor that is none begins the list anew.
    fault! { "pagination.cursor-mangled" ["PG-09"] whole(LIST, |mut request, upstream| async move {
        let response = upstream.send(&request).await;
        if response.code() == 400 && request.parameter("cursor").is_some() {
            request.set_parameter("cursor", None);
            return upstream.send(&request).await;
        }
        response
    }) },
    // A request without cursor goes on where the last one stopped.
    fault! { in "pagination.pages.beginning" "pagination.cursor-keeps-start" ["PG-05"]
        whole_with(LIST, |mut request, upstream, last: Shared<Option<String>>| async move {
            if request.parameter("cursor").is_none() {
                request.set_parameter("cursor", last.with(|last| last.clone()).as_deref());
            }
            let response = upstream.send(&request).await;
            let next = response.json()["pagination"]["nextCursor"].as_str().map(str::to_owned);
            last.with(|last| *last = next);
            response
        }) },
];

fn limit(request: &Request) -> Option<usize> {
    request.parameter("limit")?.parse().ok()
}

/// How many entries a page has, unless the request is at fault.
fn size(request: &Request) -> Option<usize> {
    let size = request.parameter("limit").map_or(Some(20), |_| limit(request));
    size.filter(|size| (1..=100).contains(size))
}

/// Each page after the first begins with the last entry of the one before, or skips an entry.
fn border(twice: bool) -> Intercept {
    whole_with(
        LIST,
        move |mut request, upstream, lasts: Shared<HashMap<String, Value>>| async move {
            let cursor = request.parameter("cursor").unwrap_or_default();
            let last = lasts.with(|lasts| lasts.get(cursor).cloned());
            // With pages of the border alone a walk would never end.
            let size = size(&request).filter(|size| if twice { *size > 1 } else { *size < 100 });
            let changed = last.zip(size);
            if let Some((_, size)) = &changed {
                let size = if twice { size - 1 } else { size + 1 };
                request.set_parameter("limit", Some(&size.to_string()));
            }
            let mut response = upstream.send(&request).await;
            let next = response.json()["pagination"]["nextCursor"].as_str().map(str::to_owned);
            entries(&mut response, |page| {
                lasts.with(|lasts| lasts.extend(next.zip(page.last().cloned())));
                match changed {
                    Some((last, _)) if twice => page.insert(0, last),
                    Some(_) => drop(page.drain(..page.len().min(1))),
                    None => {}
                }
            });
            response
        },
    )
}

fn one_more() -> Intercept {
    whole(LIST, |request, upstream| async move {
        let empty = json!({ "data": [], "error": null, "pagination": { "nextCursor": null } });
        if request.parameter("cursor") == Some("end") {
            return Response::new(200, &empty);
        }
        let mut response = upstream.send(&request).await;
        response.edit(|body| {
            let full = body["data"].as_array().map(Vec::len) == size(&request);
            if full && body["pagination"]["nextCursor"].is_null() {
                body["pagination"]["nextCursor"] = "end".into();
            }
        });
        response
    })
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

fn once() -> Intercept {
    let used = Shared::<HashSet<String>>::default();
    refused(LIST, 400, move |request| {
        request
            .parameter("cursor")
            .is_some_and(|cursor| !used.with(|used| used.insert(cursor.into())))
    })
}
