//! Races of generations under one id, of uploads to one slot, and of connections.

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use super::by_path;
use super::crowd::crowded;
use crate::prelude::*;

const GENERATE: &str = "POST /generations";
const PUT: &str = "PUT /storage/**";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "races.job-for-each" ["GE-11"]
        crowded(GENERATE, GENERATE, by_job, |mut request, upstream, place| async move {
            if place.nth == 0 {
                return upstream.send(&request).await;
            }
            let mark = format!("~{}", place.nth);
            request.edit(|body| {
                let id = body["clientJobId"].as_str().unwrap_or_default();
                body["clientJobId"] = format!("{id}{mark}").into();
            });
            let mut response = upstream.send(&request).await;
            response.body = String::from_utf8_lossy(&response.body).replace(&mark, "").into();
            response
        }),
        "Each of the generations that come at once under one id is a job of its own." },
    fault! { "races.job-of-the-first" ["GE-11"]
        crowded(GENERATE, GENERATE, by_job, |_, upstream, place| async move {
            upstream.send(&place.asks()[0]).await
        }),
        "Generations that come at once under one id are all taken for the first of them." },
    fault! { "races.uploads-all-taken" ["UP-14"]
        crowded(PUT, PUT, by_path, |request, upstream, place| async move {
            if place.nth == 0 {
                return upstream.send(&request).await;
            }
            Response { status: StatusCode::OK, headers: HeaderMap::new(), body: Bytes::new() }
        }),
        "All uploads that come to one slot at once are told that they were taken." },
    fault! { "races.uploads-ten" ["UP-10"]
        crowded(PUT, PUT, by_size, |request, upstream, place| async move {
            if place.nth < 10 {
                return upstream.send(&request).await;
            }
            Response::refusal(503, "There are too many uploads. Try again.")
        }),
        "Of uploads of one size that come at once all but ten are refused with 503." },
    fault! { "races.silent-connections" ["VA-21"] Intercept::Silent(40),
        "While over 40 connections have said nothing others are refused with 503." },
];

/// The small pictures of unrelated scenarios belong together only by chance.
fn by_size(request: &Request) -> Option<String> {
    (request.body.len() >= 1_000).then(|| request.body.len().to_string())
}

fn by_job(request: &Request) -> Option<String> {
    request.text("clientJobId").map(|id| format!("{} {id}", request.authorization()))
}
