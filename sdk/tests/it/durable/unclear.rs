//! Services that change what they store, whose clocks are wrong, or that know every job: an absence
//! counts only if it is certain.

use std::time::{Duration, UNIX_EPOCH};

use promptarium::durable::{Journal, Resolved};
use promptarium::testing::{Answer, fixture};
use promptarium::{Error, Outcome, Prompt, Timestamp};
use serde_json::json;

use super::{Place, open_prompt, stored};
use crate::generations::evidence::NO_PROOF;

/// A service that stores the prompt, whose response is lost, and shows it like this with this
/// `Date`. Returns what the first run of the step says, and how many prompts are sent in two runs.
async fn lost(shown: Prompt, date: Option<Timestamp>) -> (Result<Prompt, Error>, usize) {
    let place = Place::new();
    place.script.post("/prompts").answer(Answer::disconnect());
    place.script.post("/prompts").always(Answer::data(&stored(9, "second")));
    let page = Answer::page(&fixture::page(vec![shown]));
    let date = date.map(|date| {
        let time = UNIX_EPOCH + Duration::from_secs(date.as_second().try_into().unwrap());
        httpdate::fmt_http_date(time)
    });
    let page = date.map_or(page.clone(), |date| page.header("date", &date));
    place.script.get("/prompts").always(page);
    let journal = place.open().await;
    let create = || place.client.prompts().create(" Dusk\u{e9} ", "Still\r\nlife");
    let first = journal.run("a", create()).await;
    let _ = journal.run("a", create()).await;
    (first, place.script.calls().iter().filter(|call| *call == "POST /prompts").count())
}

/// Now and so many minutes later, in whole seconds.
fn minutes(minutes: i64) -> Timestamp {
    Timestamp::from_second(Timestamp::now().as_second() + 60 * minutes).unwrap()
}

fn shown(title: &str, text: &str) -> Prompt {
    let mut prompt = stored(7, title);
    (prompt.text, prompt.created_at) = (text.to_owned(), minutes(0));
    prompt
}

#[tokio::test(start_paused = true)]
async fn what_services_change_in_texts_makes_no_other_prompt() {
    for (title, text) in [
        ("Dusk\u{e9}", "Still\r\nlife"),
        (" Dusk\u{e9} ", "Still\nlife"),
        ("Dusk\u{e9}", "Still\rlife\n"),
        ("Duske\u{301}", "Still\nlife"),
    ] {
        let (first, sent) = lost(shown(title, text), None).await;
        assert_eq!((first.map(|prompt| prompt.id.get()).ok(), sent), (Some(7), 1), "{title:?}");
    }
}

fn is_ambiguous(first: &Result<Prompt, Error>) -> bool {
    let error = first.as_ref().unwrap_err();
    error.is_ambiguous() && error.outcome() == Outcome::Unknown && error.is_outcome_unknown()
}

#[tokio::test(start_paused = true)]
async fn a_new_prompt_that_belongs_to_no_step_may_be_the_one_that_was_sent() {
    let mut filled = shown("Dusk\u{e9}", "Still\nlife");
    filled.platform = Some("web".to_owned());
    for prompt in [shown("DUSK\u{c9}", "Still life"), shown("Dus\u{2026}", "Still"), filled] {
        let (first, sent) = lost(prompt, None).await;
        assert!(is_ambiguous(&first) && sent == 1, "{sent}: {first:?}");
        let text = first.unwrap_err().to_string();
        assert!(text.contains("id 7, which belongs to no step"), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_same_prompt_with_a_time_that_does_not_fit_may_be_the_one_that_was_sent() {
    // When the prompt was created, by the service, and its `Date`, in minutes from now.
    for (created, date) in
        [(-10, Some(0)), (-10, None), (0, Some(10)), (-70, None), (-120, Some(-60)), (-7, Some(0))]
    {
        let mut prompt = shown("Dusk\u{e9}", "Still\nlife");
        prompt.created_at = minutes(created);
        let (first, sent) = lost(prompt, date.map(minutes)).await;
        assert!(is_ambiguous(&first) && sent == 1, "{created} {date:?}, {sent}: {first:?}");
    }
    // Also where it changes the title, and the clock is wrong.
    let mut prompt = shown("dusk\u{c9}!", "still life");
    prompt.created_at = minutes(-10);
    assert!(is_ambiguous(&lost(prompt, Some(minutes(0))).await.0));
    for (created, date) in [(0, None), (-4, None), (60, Some(60)), (-60, Some(-60))] {
        let mut prompt = shown("Dusk\u{e9}", "Still\nlife");
        prompt.created_at = minutes(created);
        let (first, sent) = lost(prompt, date.map(minutes)).await;
        assert_eq!((first.map(|it| it.id.get()).ok(), sent), (Some(7), 1), "{created} {date:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_older_prompt_with_another_text_is_no_candidate() {
    let mut prompt = shown("Dawn", "Still\nlife");
    prompt.created_at = minutes(-6);
    let (first, sent) = lost(prompt, None).await;
    assert_eq!((first.unwrap_err().outcome(), sent), (Outcome::NotDone, 2));
}

/// Runs a step whose response is lost, with a new prompt in the list that is not its own.
async fn beside(place: &Place, journal: &Journal, other: Prompt) -> Result<Prompt, Error> {
    place.script.post("/prompts").answer(Answer::disconnect());
    place.script.get("/prompts").always(Answer::page(&fixture::page(vec![other])));
    journal.run("lost", place.create("Dusk")).await
}

#[tokio::test(start_paused = true)]
async fn the_output_of_a_generation_and_results_of_steps_are_no_candidates() {
    let mut output = shown("A harbour", " A harbour\r\n");
    output.images = fixture::prompt().images;
    let place = Place::new();
    place.script.post("/generations").answer(Answer::data(&fixture::generation_job()));
    let journal = place.open().await;
    journal.run("job", place.generate()).await.unwrap();
    let error = beside(&place, &journal, output).await.unwrap_err();
    assert_eq!(error.outcome(), Outcome::NotDone, "{error}");

    let place = Place::new();
    let dawn = shown("Dawn", "Still life");
    place.script.post("/prompts").answer(Answer::data(&dawn));
    let journal = place.open().await;
    journal.run("dawn", place.create("Dawn")).await.unwrap();
    let error = beside(&place, &journal, dawn).await.unwrap_err();
    assert_eq!(error.outcome(), Outcome::NotDone, "{error}");
}

/// A prompt of somebody else from shortly before a step began, whose response is lost, as long after a
/// step of the same journal that had ended before. Whether that leaves the step open.
#[tokio::test(start_paused = true)]
async fn what_was_there_before_the_result_of_a_finished_step_is_no_candidate() {
    let seconds = |seconds| minutes(-1) + jiff::SignedDuration::from_secs(seconds);
    // The title, and the seconds from the result of the finished step.
    for (title, created, is_open) in [
        ("Noon", -11, false),
        ("Noon", -9, true),
        ("Noon", 1, true),
        // The service may change more of a prompt than its case.
        ("DUSK!", -11, true),
        ("Dusk", -11, true),
    ] {
        let place = Place::new();
        let mut dawn = stored(3, "Dawn");
        dawn.created_at = seconds(0);
        place.script.post("/prompts").answer(Answer::data(&dawn));
        let journal = place.open().await;
        journal.run("dawn", place.create("Dawn")).await.unwrap();
        let mut other = stored(7, title);
        other.created_at = seconds(created);
        place.script.post("/prompts").answer(Answer::disconnect());
        place.script.get("/prompts").always(Answer::page(&fixture::page(vec![dawn, other])));
        // Also in a later program, by the lines of the file.
        let first = journal.run("lost", place.create("Dusk")).await;
        drop(journal);
        let text = place.text().lines().take(4).map(|line| format!("{line}\n")).collect::<String>();
        std::fs::write(place.path(), text).unwrap();
        let recovered = place.open().await.recover().await.unwrap();
        let (open, found) = match title {
            "Dusk" => (first.is_ok(), Resolved::Done),
            _ if is_open => (is_ambiguous(&first), Resolved::Ambiguous),
            _ => (first.is_err_and(|it| it.outcome() == Outcome::NotDone), Resolved::NotDone),
        };
        assert!(open, "{title} {created}");
        assert_eq!(recovered, [("lost".to_owned(), found)], "{title} {created}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_that_knows_every_job_proves_nothing() {
    for status in NO_PROOF {
        let place = Place::new();
        place.script.post("/generations").always(Answer::disconnect());
        let answer = Answer::raw(200, "application/json", status);
        place.script.get("/generations/{job}/status").always(answer);
        let journal = place.open().await;
        let generate = || place.generate().client_job_id("job-1");
        for _ in 0..2 {
            let error = journal.run("a", generate()).await.unwrap_err();
            let outcome = (error.is_ambiguous(), error.outcome());
            assert_eq!(outcome, (true, Outcome::Unknown), "{status}: {error}");
        }
        assert!(!place.text().contains(r#""event":"done""#), "{status}");
        let posts = place.script.calls().iter().filter(|call| call.starts_with("POST")).count();
        assert_eq!(posts, 1, "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_ambiguous_step_has_no_certain_outcome() {
    for question in [
        Answer::error(401, "no"),
        Answer::error(403, "no"),
        Answer::error(404, "no"),
        Answer::raw(200, "text/html", "<h1>Login</h1>"),
        Answer::data(&json!("x")),
    ] {
        let place = Place::with(&[open_prompt("a", "Dusk")]);
        place.script.get("/prompts").always(question.clone());
        let error = place.open().await.run("a", place.create("Dusk")).await.unwrap_err();
        assert!(
            error.is_ambiguous() && error.outcome() == Outcome::Unknown,
            "{question:?} {error}"
        );
    }
}
