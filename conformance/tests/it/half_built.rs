//! A server that has prompts and nothing else yet: what it has is tested, what it lacks blocks, and
//! the report says in a few lines what to build next.

use crate::prelude::*;
use crate::program::all_keys;

#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_prompts_only_is_tested_on_prompts_and_told_what_to_build_next() {
    let changes = Changes {
        path: |path| Some(path).filter(|path| path.starts_with("/api/v1/prompts")),
        ..Changes::NONE
    };
    let (server, base_url, _front) = server_behind(changes).await;
    let report = JsonReport::new("half-built");
    let arguments = report.with(&["run", "--time-scale", "5"]);
    let text = program(&arguments, &all_keys(&base_url)).await.ended(1, &[]).out;
    server.shutdown().await;
    let report = report.read();
    let records = report["records"].as_array().unwrap();
    let calls_a_prompt = |record: &Value| {
        let call = record["call"].as_str().unwrap_or_default();
        call.split(' ').any(|it| it.starts_with("/prompts"))
    };
    for record in records {
        let is_right = match record["outcome"].as_str().unwrap() {
            "passed" => true,
            "blocked" => !calls_a_prompt(record),
            _ => false,
        };
        assert!(is_right, "{record:#}");
    }
    let passed = |start: &str| {
        let own = records.iter().filter(|record| record["id"].as_str().unwrap().starts_with(start));
        own.filter(|record| record["outcome"] == "passed").count()
    };
    assert!(passed("prompts.") > 20, "{} of prompts passed", passed("prompts."));
    assert!(passed("") > 80, "{} passed", passed(""));
    assert_eq!(report["causes"][0]["call"], "POST /vaults");
    assert!(text.contains("next: make POST /vaults work, which blocks "), "{text}");
    assert!(text.contains("verdict: failed"), "{text}");
    assert!(text.lines().count() < 80, "{} lines:\n{text}", text.lines().count());
}
