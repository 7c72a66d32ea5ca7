//! Faults in pages and cursors (PG, LI-01).

use crate::prelude::*;

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
    fault! { "pagination.limit-of-first-page" ["PG-03"] asks(LIST, |request| {
        if request.parameter("cursor").is_some() {
            request.set_parameter("limit", None);
        }
    }),
        "From the second page on limit is ignored." },
    fault! { "pagination.limit-1" ["LI-01"] refused(LIST, 400, |request| limit(request) == Some(1)),
        "A limit of 1 is refused." },
    fault! { "pagination.limit-fraction" ["PG-04"]
        limit_as(|limit| limit.split('.').next().map(str::to_owned)),
        "A limit with a fraction is cut." },
    fault! { "pagination.border-twice" ["PG-06"] border(true),
        "Each page begins with the last entry of the one before." },
    fault! { "pagination.border-skipped" ["PG-06"] border(false),
        "Each page after the first one skips an entry." },
    fault! { "pagination.by-offset" ["PG-06"] by_offset(|_| ()),
        "The pages of a vault are counted from the start of the list." },
    fault! { "pagination.last-updated-first" ["PG-06"] by_offset(|found| {
        found.sort_by_key(|one| Reverse((text(one, "updatedAt").to_owned(), one["id"].as_i64())));
    }),
        "The list of a vault begins with what was updated last." },
    fault! { "pagination.cursor-forgotten-with-type" ["PG-06"] asks(LIST, |request| {
        if request.parameter("type").is_some() {
            request.set_parameter("cursor", None);
        }
    }),
        "With type the cursor is ignored." },
    fault! { "pagination.cursor-after-the-end" ["PG-08"] one_more(),
        "A full last page has a cursor to an empty one." },
    fault! { "pagination.cursor-empty" ["PG-08"] edits_answer(LIST, |body| {
        if body["pagination"]["nextCursor"].is_null() && body["data"].is_array() {
            body["pagination"]["nextCursor"] = "".into();
        }
    }),
        "The nextCursor of the last page is an empty text." },
    fault! { "pagination.cursor-of-empty-list" ["PG-08"] of_empty(),
        "The list of an empty vault has a nextCursor." },
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

/// The pages of a vault are counted from the start of the list in this order.
fn by_offset(order: fn(&mut [Value])) -> Intercept {
    whole(LIST, move |mut request, upstream| async move {
        let start = request.parameter("cursor").map_or(Some(0), |start| start.parse().ok());
        let (Some(start), Some(size), Some(_)) =
            (start, size(&request), request.parameter("vaultId"))
        else {
            return upstream.send(&request).await;
        };
        request.set_parameter("cursor", None);
        request.set_parameter("limit", Some("100"));
        let mut response = upstream.send(&request).await;
        response.edit(|body| {
            let Value::Array(mut all) = body["data"].take() else { return };
            order(&mut all);
            let more = all.len() > start + size;
            body["data"] = all.into_iter().skip(start).take(size).collect();
            body["pagination"]["nextCursor"] = more.then(|| (start + size).to_string()).into();
        });
        response
    })
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
