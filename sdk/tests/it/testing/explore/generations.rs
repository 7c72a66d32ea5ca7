//! Functions that pay.

use promptarium::testing::{Fault, ProblemKind, explore};
use promptarium::Client;

use super::faults;

#[tokio::test(start_paused = true)]
async fn a_generation_that_is_repeated_is_paid_twice() {
    let report = explore(async |client: Client| {
        let create = || client.generations().create("local/plasma", "A harbour");
        match create().and_wait().await {
            Ok(finished) => Ok(finished),
            Err(_) => create().and_wait().await,
        }
    });
    let report = report.await;
    assert_eq!(
        report.requests()[..2],
        ["POST /generations", "GET /generations/{clientJobId}/status"]
    );
    let paid = faults(&report, "POST /generations", ProblemKind::PaidTwice);
    assert!(paid.contains(&Fault::DroppedAfter), "{report}");
    assert!(!paid.contains(&Fault::RateLimited), "{report}");
    // Its output is not another problem.
    assert!(report.problems().all(|problem| problem.kind == ProblemKind::PaidTwice), "{report}");
}
