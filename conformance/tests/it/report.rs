//! Reports: what they say, and what they must never say.

mod canary;
mod html;
mod junit;
mod kinds;
mod markdown;
mod schema;
mod writing;

use promptarium_conformance::scenarios::prelude::Result;

use crate::prelude::*;

/// What stands after the last underscore of a key; the rest is no secret.
fn secret() -> &'static str {
    KEY.rsplit('_').next().unwrap()
}

fn assert_silent(text: &str) {
    for piece in secret().as_bytes().windows(12) {
        let piece = std::str::from_utf8(piece).unwrap();
        assert!(!text.contains(piece), "{piece:?} of the key shows");
    }
}

#[tokio::test]
async fn no_report_shows_what_a_slot_for_an_upload_grants_access_with() {
    const TOKEN: &str = "tok-4dm1tsOneUpload";
    const SIGNED: &str = "sig=s1gnedUploadAddress";
    let stub = Stub::start(|line| {
        let origin = "http://127.0.0.1:9";
        let upload_url = format!("{origin}/a.png?{SIGNED}");
        let data = json!({ "uploadUrl": upload_url, "token": TOKEN, "url": origin, "size": 1 });
        match line {
            "POST /uploads/images" => Answer::data(201, data),
            _ => Answer::nothing(500),
        }
    });
    let report = finish(Run::new(stub.await.target(), chosen(&["uploads."]))).await;
    let text = text::render(&report) + &Format::Json.render(&report) + &format!("{report:?}");
    assert!(text.contains("/a.png?[redacted]") && text.contains("[slot]"), "{text}");
    assert!(text.contains("${UPLOAD_TOKEN}"), "{text}");
    assert!(!text.contains(TOKEN) && !text.contains(SIGNED), "{text}");
}

#[tokio::test]
async fn a_key_that_is_cut_in_two_by_the_end_of_what_is_shown_does_not_show() {
    async fn long(case: Case) -> Result {
        case.wire().get("/long").await?.status(201).map(drop)
    }
    for before in 1960..2000 {
        let stub = Stub::always(Answer::Json(200, "x".repeat(before) + KEY)).await;
        let report = stub.run(&[scenario!("a.b.long", long)]).await;
        assert_silent(&Format::Json.render(&report));
    }
}

async fn visible(case: Case) -> Result {
    let (_, made) = case.vault_with(json!({ "visibility": "public" })).await?;
    made.equals("/data/visibility", "public").map(drop)
}

async fn text_of_a_failure() -> (String, Value) {
    let data = json!({ "id": 5, "visibility": "private", "name": "it's \u{1b}[31m" });
    let stub = Stub::start(move |line| match line.starts_with("POST") {
        true => Answer::data(201, data.clone()),
        false => Answer::nothing(200),
    });
    let stub = stub.await;
    let visible = scenario!("vaults.create.visible", visible);
    let mut run = Run::new(stub.target(), selection(&[visible]));
    run.report.seed = 7;
    let mut report = finish(run).await;
    (report.duration_ms, report.records[0].duration_ms) = (1234, 567);
    report.records[0].source = "src/scenarios/vaults.rs:7";
    let fixed = |text: String| {
        let text = text.replace(&stub.base_url, "http://target/api/v1");
        text.replace(&report.run_id, "run").replace(&report.started_at, "then")
    };
    let json = fixed(Format::Json.render(&report));
    (fixed(text::render(&report)), serde_json::from_str(&json).unwrap())
}

#[tokio::test]
async fn a_failure_says_what_was_expected_what_came_and_how_to_see_it_again() {
    let (text, _) = text_of_a_failure().await;
    insta::assert_snapshot!(text);
}

#[tokio::test]
async fn json_says_the_same() {
    let (_, json) = text_of_a_failure().await;
    insta::assert_json_snapshot!(json);
}

#[tokio::test]
async fn a_reply_cannot_steer_the_terminal() {
    let stub = Stub::always(Answer::Html(200, "\u{1b}[2J\u{9b}31m\rgone\u{7}")).await;
    let report = stub.run(&[scenario!("a.b.visible", visible)]).await;
    let text = text::render(&report);
    assert!(text.contains("gone"));
    assert!(!text.chars().any(|one| one.is_control() && one != '\n'), "{text:?}");
}

#[tokio::test]
async fn every_format_shows_of_a_failure_all_that_is_known() {
    let report = kinds::report().await;
    for (name, format) in Format::ALL {
        let shown = format.render(&report);
        for part in [
            "plain.fails.badly",
            "VA-16",
            "a good answer, not ",
            "a bad one: ",
            "500 Internal Server Error",
            "curl -i -X POST ",
            "/hostile",
            "${PROMPTARIUM_API_KEY}",
            "--filter plain.fails.badly --seed 7",
            "known.toml line 3",
            "generations",
            "give it time",
            "until 2026-01-31, which is over",
            "known.toml line 18: known.not.selected is a known failure and was not selected",
        ] {
            let as_json = name == "json" && part.starts_with("until");
            assert!(as_json || shown.contains(part), "{part:?} is not in {name}: {shown}");
        }
    }
}

#[tokio::test]
async fn the_command_for_the_same_run_selects_the_same_scenarios() {
    let stub = Stub::always(Answer::nothing(200)).await;
    let filters = Filters {
        filter: vec!["vaults.".to_owned()],
        exclude: vec!["vaults.fork.".to_owned()],
        ..Filters::default()
    };
    let selection = Selection::new(&Suite::builtin(), filters).unwrap();
    let mut run = Run::new(stub.target(), selection);
    run.report.seed = 7;
    let command = run.report.command();
    assert!(command.contains("--filter vaults. --exclude vaults.fork. --seed 7"), "{command}");
}
