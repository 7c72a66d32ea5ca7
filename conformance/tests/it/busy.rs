//! A target that says 429 is asked again.

use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};

use promptarium_conformance::report::Outcome;
use promptarium_conformance::{Case, Failure, Run};
use serde_json::json;

use crate::isolation::{scenario, selection};
use crate::stub::{Answer, Request, Stub};

/// Says first that it is busy, and to the next request that there are no vaults.
fn busy_at_first() -> impl Fn(&Request) -> Answer + Send + Sync + 'static {
    let busy = AtomicBool::new(true);
    move |_| {
        if busy.swap(false, Ordering::Relaxed) {
            return Answer::With(429, "retry-after: 0".into(), "{}".into());
        }
        Answer::Json(200, json!({ "data": [], "error": null }).to_string())
    }
}

async fn by_the_wire(case: Case) -> Result<(), Failure> {
    case.wire().get("/vaults").await?.status(200).map(drop)
}

#[tokio::test]
async fn a_call_is_sent_again() {
    let stub = Stub::start(busy_at_first()).await;
    let run = Run::new(stub.target(), selection(&[scenario!("x.wire.busy", by_the_wire)]));
    let report = run.run(pending(), |_, _| {}).await;
    assert_eq!(report.records[0].outcome, Outcome::Passed, "{report:?}");
    assert_eq!(stub.seen(), ["GET /vaults", "GET /vaults"]);
}
