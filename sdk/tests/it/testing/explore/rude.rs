//! Services with other habits, and journals on them.

use promptarium::durable::Journal;
use promptarium::testing::{FakeService, ProblemKind, Report, Rudeness, explore_on};
use promptarium::{Client, Error};

/// Creates a vault, a prompt in it and a generation, with a journal in this folder.
async fn import(client: Client, folder: &std::path::Path) -> Result<(), Error> {
    let journal = Journal::open(&client, folder.join("journal")).await?;
    let vault = journal.run("vault", client.vaults().create(" Harbours ")).await?.id;
    let create = client.prompts().create(" Dusk ", "A harbour\r\nat dusk ").vault(vault);
    journal.run("prompt", create).await?;
    let generate = client.generations().create("local/plasma", "A harbour ").vault(vault);
    let job = journal.run("job", generate).await?;
    match client.generations().wait(job).final_states(["canceled"]).await {
        Err(error) if error.is_job_failed() => Ok(()),
        outcome => outcome.map(drop),
    }
}

async fn with_a_journal(habit: Rudeness) -> Report {
    let setup = async |_| tempfile::tempdir().unwrap();
    let service = || FakeService::new().rude([habit]);
    explore_on(service, setup, async |client, folder| import(client, folder.path()).await).await
}

#[tokio::test(start_paused = true)]
async fn a_journal_doubles_and_pays_nothing_twice_whatever_the_habits_of_the_service() {
    for habit in Rudeness::ALL {
        let report = with_a_journal(habit).await;
        assert!(report.cases() >= 40, "{habit:?}: {report}");
        let wrong = report.problems().find(|it| it.kind != ProblemKind::NoRecovery);
        assert!(wrong.is_none(), "{habit:?}: {report}");
        // Where it cannot tell what was carried out, it says so and sends nothing.
        let stopped = report.problems().filter(|it| it.details.contains("cannot tell whether"));
        let (stopped, all) = (stopped.count(), report.problems().count());
        let expects_doubt = matches!(habit, Rudeness::KnowsEveryJob | Rudeness::ClockBehind);
        assert!(stopped == all && (expects_doubt || all == 0), "{habit:?}: {report}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_upload_that_the_client_repeats_is_no_problem_of_the_function() {
    let upload = async |client: Client, (): &()| {
        client.uploads().image(promptarium::testing::fixture::png()).await
    };
    let report = explore_on(FakeService::new, async |_| (), upload).await;
    let (own, of_function): (Vec<_>, Vec<_>) = report.problems().partition(|it| it.by_client);
    let is_drop = |it: &&promptarium::testing::Problem| it.to_string().contains("dropped");
    assert!(own.len() >= 4 && !own.iter().any(is_drop), "{report}");
    assert!(!of_function.is_empty() && of_function.iter().all(is_drop), "{report}");
    let dropped = |problem: &promptarium::testing::Problem| is_drop(&problem);
    report.allow(dropped).assert_clean();
}
