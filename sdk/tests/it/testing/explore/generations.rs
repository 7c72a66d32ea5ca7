//! Functions that pay.

use promptarium::testing::{Fault, ProblemKind, explore};
use promptarium::{Client, Error};

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

/// Asks for the job before it pays for one.
async fn generate_once(client: Client) -> Result<(), Error> {
    const JOB: &str = "invoice-17";
    let generations = client.generations();
    match generations.status(JOB).await {
        Ok(_) => generations.wait(JOB).await.map(drop),
        Err(error) if error.is_not_found() => {
            let create = generations.create("local/plasma", "A harbour").client_job_id(JOB);
            create.and_wait().await.map(drop)
        }
        Err(error) => Err(error),
    }
}

#[tokio::test(start_paused = true)]
async fn a_generation_with_a_fixed_job_id_is_paid_once() {
    explore(generate_once).await.assert_clean();
}
