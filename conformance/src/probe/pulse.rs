//! Whether a target tells a good request from a bad one at all. One that gives the
//! same answer to everybody fulfils whatever that answer happens to fulfil, and
//! means nothing by it.

use std::sync::Arc;

use http::Method;
use http::header::AUTHORIZATION;

use crate::run_id::RunId;
use crate::wire::ApiResponse;
use crate::{Case, Failure, Target};

/// Why passing on this target would mean nothing; none if it would.
pub(crate) async fn indiscriminate(target: &Arc<Target>) -> Option<String> {
    let case = Case::new(Arc::clone(target), RunId::new(jiff::Timestamp::now()).to_string());
    let wire = case.wire();
    let good = wire.get("/vaults").await;
    let stranger = case.anonymous().call(Method::GET, "/vaults");
    let stranger = stranger.header(AUTHORIZATION.as_str(), "Bearer nobody_live_0_0").send().await;
    let bad = [
        ("with a key that nobody has", stranger),
        ("of a prompt that nobody has", wire.get("/prompts/2147483001").await),
        ("with a limit of 0", wire.get("/prompts?limit=0").await),
    ];
    let is_good = |reply: &ApiResponse| reply.status_code() < 300 && reply.at("/data").is_ok();
    if !good.as_ref().is_ok_and(is_good) {
        return Some(format!("GET /vaults with a good key gives {}", in_words(&good)));
    }
    let told_apart = bad.iter().any(|(_, reply)| {
        reply.as_ref().is_ok_and(|reply| (400..500).contains(&reply.status_code()))
    });
    let words = || {
        let answers = bad.iter().map(|(what, reply)| format!("a GET {what} {}", in_words(reply)));
        answers.collect::<Vec<_>>().join(", ")
    };
    (!told_apart).then(|| format!("as GET /vaults is answered, so is everything: {}", words()))
}

fn in_words(reply: &Result<ApiResponse, Failure>) -> String {
    match reply {
        Ok(reply) => format!("status {}", reply.status_code()),
        Err(failure) => failure.got.clone(),
    }
}
