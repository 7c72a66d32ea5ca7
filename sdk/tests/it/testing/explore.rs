//! The exploration of failures finds what a function does wrong, and nothing else.

mod generations;
mod rude;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use insta::assert_snapshot;
use promptarium::testing::{Fault, ProblemKind, Report, explore, explore_with, fixture};
use promptarium::{Client, Error, VaultId};

const TITLES: [&str; 2] = ["Dusk", "Dawn"];

/// Repeats each request that fails.
async fn naive_import(client: Client) -> Result<(), Error> {
    client.vaults().list().await?;
    for title in TITLES {
        while client.prompts().create(title, "A harbour").await.is_err() {}
    }
    Ok(())
}

/// Creates what a list says is missing, and leaves failures to the next start.
async fn careful_import(client: Client) -> Result<(), Error> {
    let existing = client.prompts().list().vault(GENERAL).collect().await?;
    for title in TITLES {
        if !existing.iter().any(|prompt| prompt.title == title) {
            client.prompts().create(title, "A harbour").vault(GENERAL).await?;
        }
    }
    Ok(())
}

const GENERAL: VaultId = VaultId::new(1);

/// The faults at requests of this line that lead to a problem of this kind.
fn faults(report: &Report, request: &str, kind: ProblemKind) -> Vec<Fault> {
    let mut faults: Vec<_> = report
        .problems()
        .filter(|problem| problem.kind == kind)
        .filter_map(|problem| problem.case.as_ref())
        .filter(|case| case.request == request)
        .map(|case| case.fault)
        .collect();
    faults.dedup();
    faults
}

#[tokio::test(start_paused = true)]
async fn a_function_that_repeats_its_requests_doubles_prompts() {
    let report = explore(naive_import).await;
    assert_eq!(report.requests(), ["GET /vaults", "POST /prompts", "POST /prompts"]);
    assert_eq!(report.cases(), 3 * Fault::ALL.len());
    assert_snapshot!(report, @r#"
    requests: 3, cases: 30, problems: 14
    POST /prompts (request 2), response lost: prompt "Dusk": found 2, expected 1
      prompt "Dawn": found 2, expected 1
      14 cases: response lost, response cut, 503 though applied, response late, applied late, dropped before the response, dropped before the request
      cure: look whether it is there before it is created again, or make the call a step of a `durable::Journal`
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_report_is_the_same_each_time() {
    let (first, second) = (explore(naive_import).await, explore(naive_import).await);
    assert_eq!(first.to_string(), second.to_string());
}

#[tokio::test(start_paused = true)]
async fn a_lost_response_to_a_get_doubles_nothing() {
    let report = explore(naive_import).await;
    assert!(faults(&report, "GET /vaults", ProblemKind::Doubled).is_empty(), "{report}");
    let post = faults(&report, "POST /prompts", ProblemKind::Doubled);
    assert!(post.contains(&Fault::ResponseLost), "{report}");
    assert!(!post.contains(&Fault::RateLimited), "{report}");
}

#[tokio::test(start_paused = true)]
async fn a_function_that_creates_only_what_is_missing_is_clean() {
    let report = explore(careful_import).await;
    assert_eq!(report.requests().len(), 3);
    report.assert_clean();
}

#[tokio::test(start_paused = true)]
async fn a_swallowed_error_loses_what_was_not_created() {
    let report = explore(async |client: Client| {
        let _ = client.vaults().create("Harbours").await;
        Ok::<_, Error>(())
    });
    let report = report.await;
    assert_snapshot!(report, @r#"
    requests: 1, cases: 10, problems: 3
    POST /vaults (request 1), request lost: vault "Harbours": found 0, expected 1
      2 cases: request lost, 503
      cure: return the error of the call, so that the function is run again
    POST /vaults (request 1), dropped before the response: vault "Harbours": found 2, expected 1
      cure: look whether it is there before it is created again, or make the call a step of a `durable::Journal`
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_change_that_was_lost_is_a_difference() {
    let setup = async |client: Client| {
        client.prompts().create("Dusk", "A harbour").vault(GENERAL).await.unwrap().id
    };
    let report = explore_with(setup, async |client, id| {
        let contents = client.vault(GENERAL);
        let Some(member) = contents.find(*id).await? else { return Ok(()) };
        let _ = contents.pin(member.vault_prompt_id).await;
        let _ = client.prompts().update(*id).title("Dusk").platform("local").await;
        Ok::<_, Error>(())
    });
    let report = report.await;
    assert_snapshot!(report, @r#"
    requests: 3, cases: 30, problems: 2
    PATCH /prompts/{promptId} (request 3), request lost: prompt "Dusk": found text, platform None, [pinned in "General"], "A harbour", expected text, platform Some("local"), [pinned in "General"], "A harbour"
      2 cases: request lost, 503
      cure: return the error of the call, so that the function is run again
    "#);
}

#[tokio::test(start_paused = true)]
async fn an_unwrapped_error_is_a_panic() {
    let report = explore(async |client: Client| {
        client.prompts().create("Dusk", "A harbour").await.unwrap();
        Ok::<_, Error>(())
    });
    let report = report.await;
    let faults = faults(&report, "POST /prompts", ProblemKind::Panic);
    assert_eq!(faults[..2], [Fault::RequestLost, Fault::ResponseLost], "{report}");
    assert!(report.to_string().contains("request lost: panic: called `Result::unwrap()`"));
}

#[tokio::test(start_paused = true)]
async fn a_function_that_fails_without_a_fault_is_not_explored() {
    let report = explore(async |client: Client| client.prompts().create("", "A harbour").await);
    let report = report.await;
    assert_eq!(report.cases(), 0);
    assert_snapshot!(report, @r#"
    requests: 1, cases: 0, problems: 1
    without a fault: fails: POST /prompts: 400 Bad Request: title is missing or too long
      cure: it must succeed without a fault before it is explored
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_function_that_depends_on_chance_is_not_explored() {
    let runs = RefCell::new(0);
    let report = explore(async |client: Client| {
        *runs.borrow_mut() += 1;
        let title = format!("Run {}", runs.borrow());
        client.prompts().create(title, "A harbour").await
    });
    let report = report.await;
    assert_snapshot!(report, @r#"
    requests: 1, cases: 0, problems: 2
    without a fault: a second run differs: prompt "Run 1": found 0, expected 1
      a second run differs: prompt "Run 2": found 1, expected 0
      cure: make names and ids from the input, not by chance or by time
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_function_that_cannot_be_started_again_does_not_recover() {
    let report = explore_with(
        async |_| RefCell::new(false),
        async |client: Client, started| {
            if started.replace(true) {
                return Err("the lock file exists".to_owned());
            }
            client.vaults().list().await.map_err(|error| error.to_string())
        },
    );
    let report = report.await;
    assert_snapshot!(report, @r#"
    requests: 1, cases: 10, problems: 2
    GET /vaults (request 1), dropped before the request: fails: the lock file exists
      2 cases: dropped before the request, dropped before the response
      cure: nothing that a run leaves may make the next one fail
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_function_that_waits_for_ever_does_not_end() {
    let report = explore(async |client: Client| {
        if client.vaults().create("Harbours").await.is_err() {
            std::future::pending::<()>().await;
        }
        Ok::<_, Error>(())
    });
    let report = report.await;
    let hangs = faults(&report, "POST /vaults", ProblemKind::Hang);
    assert_eq!(hangs[..2], [Fault::RequestLost, Fault::ResponseLost], "{report}");
}

#[tokio::test(start_paused = true)]
async fn a_function_that_repeats_a_refused_request_for_ever_does_not_end() {
    let report = explore_with(
        async |client: Client| client.vaults().create("Harbours").await.unwrap().id,
        // After a lost response, the vault exists no more.
        async |client: Client, id| {
            while client.vaults().delete(*id).await.is_err() {}
            Ok::<_, Error>(())
        },
    );
    let report = report.await;
    let hangs = faults(&report, "DELETE /vaults/{vaultId}", ProblemKind::Hang);
    assert!(hangs.contains(&Fault::ResponseLost), "{report}");
}

#[tokio::test(start_paused = true)]
async fn a_journal_on_disk_is_kept_for_the_restart() {
    let file = |name: &str| {
        let folder = std::env::temp_dir().join(format!("promptarium-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder.join(name)
    };
    let journal = file("journal");
    let setup = async |_| drop(std::fs::remove_file(&journal));
    let report = explore_with(setup, async |client: Client, ()| {
        let done = tokio::fs::read_to_string(&journal).await.unwrap_or_default();
        let existing = client.prompts().list().collect().await?;
        for title in TITLES.iter().skip(done.lines().count()) {
            if !existing.iter().any(|prompt| prompt.title == *title) {
                client.prompts().create(*title, "A harbour").await?;
            }
            let done = std::fs::read_to_string(&journal).unwrap_or_default();
            tokio::fs::write(&journal, format!("{done}{title}\n")).await.unwrap();
        }
        Ok::<_, Error>(())
    });
    let report = report.await;
    std::fs::remove_dir_all(journal.parent().unwrap()).unwrap();
    report.assert_clean();
}

#[tokio::test(start_paused = true)]
async fn an_upload_is_repeated_to_another_slot() {
    let report = explore(async |client: Client| client.uploads().image(fixture::png()).await);
    let report = report.await;
    assert_eq!(report.requests(), ["POST /uploads/images", "PUT {uploadUrl}"]);
    let twice = faults(&report, "PUT {uploadUrl}", ProblemKind::UploadedTwice);
    assert!(twice.contains(&Fault::ResponseLost), "{report}");
    report.allow(|problem| problem.kind == ProblemKind::UploadedTwice).assert_clean();
}

#[tokio::test(start_paused = true)]
async fn requests_at_the_same_time_have_numbers_too() {
    let report = explore(async |client: Client| {
        let create = |title| client.vaults().create(title).into_future();
        let (first, second) = futures::join!(create("Dusk"), create("Dawn"));
        first.and(second).map(drop)
    });
    let report = report.await;
    assert_eq!(report.requests(), ["POST /vaults", "POST /vaults"]);
    let doubled = faults(&report, "POST /vaults", ProblemKind::Doubled);
    assert!(doubled.contains(&Fault::DroppedAfter), "{report}");
}

#[tokio::test(start_paused = true)]
async fn a_dropped_function_ends_the_requests_of_its_tasks() {
    let report = explore(async |client: Client| {
        if client.vaults().list().await?.len() == 1 {
            let create = async move {
                client.vaults().create("Harbours").await?;
                client.prompts().create("Dusk", "A harbour").await
            };
            tokio::spawn(create).await.unwrap()?;
        }
        Ok::<_, Error>(())
    });
    let report = report.await;
    assert_eq!(report.requests(), ["GET /vaults", "POST /vaults", "POST /prompts"]);
    // The restart finds the vault and ends, and the task has not created the prompt.
    let lost = faults(&report, "POST /vaults", ProblemKind::Lost);
    assert!(lost.contains(&Fault::DroppedAfter), "{report}");
    assert!(!lost.contains(&Fault::DroppedBefore), "{report}");
}

#[test]
fn the_clock_must_be_paused() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let started = std::time::Instant::now();
    let run = || runtime.block_on(explore(async |client: Client| client.vaults().list().await));
    let payload = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
    let text = payload.downcast_ref::<&str>().unwrap();
    assert_eq!(*text, "`explore` needs Tokio's paused clock: #[tokio::test(start_paused = true)]");
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[tokio::test(start_paused = true)]
async fn a_report_with_problems_is_not_clean() {
    let report = explore(naive_import).await;
    let payload = catch_unwind(|| report.assert_clean()).unwrap_err();
    assert_eq!(*payload.downcast::<String>().unwrap(), report.to_string());
}
