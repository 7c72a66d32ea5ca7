//! A server that has prompts and nothing else yet: what it has is tested, what it lacks blocks, and
//! the report says in a few lines what to build next.

use promptarium_server::EmbeddedServer;
use serde_json::Value;

use crate::balancer::{Balancer, Changes, Socket};
use crate::deployed;
use crate::keys::{MAIN, OTHER, READ_ONLY, REVOKED};
use crate::program::{folder, program};

/// The address of a front before `server` that has only the paths of prompts.
async fn only_prompts(server: &EmbeddedServer) -> (String, Balancer) {
    let socket = Socket::bind().await.unwrap();
    let base_url = format!("{}/api/v1", socket.url().unwrap());
    let changes = Changes {
        path: |path| Some(path).filter(|path| path.starts_with("/api/v1/prompts")),
        ..Changes::NONE
    };
    (base_url, socket.forward_to(&[server.local_addr()], changes))
}

/// What the terminal shows of a run against it, and the records.
async fn run() -> (String, Value) {
    let server = deployed::server().await;
    let (base_url, _front) = only_prompts(&server).await;
    let file = folder("half-built").join("report.json").display().to_string();
    let variables = [
        ("PROMPTARIUM_BASE_URL", &*base_url),
        ("PROMPTARIUM_API_KEY", MAIN),
        ("PROMPTARIUM_READ_ONLY_API_KEY", READ_ONLY),
        ("PROMPTARIUM_OTHER_API_KEY", OTHER),
        ("PROMPTARIUM_REVOKED_API_KEY", REVOKED),
    ];
    let json = format!("json={file}");
    let arguments = ["run", "--time-scale", "5", "--report", &json];
    let ran = program(&arguments, &variables).await.ended(1, &[]);
    server.shutdown().await;
    (ran.out, serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_prompts_only_is_tested_on_prompts_and_told_what_to_build_next() {
    let (text, report) = run().await;
    let records = report["records"].as_array().unwrap();
    let calls_a_prompt = |record: &Value| {
        record["call"]
            .as_str()
            .is_some_and(|call| call.split(' ').any(|it| it.starts_with("/prompts")))
    };
    for record in records {
        match record["outcome"].as_str().unwrap() {
            "passed" => {}
            "blocked" => assert!(!calls_a_prompt(record), "{record:#}"),
            _ => panic!("{record:#}"),
        }
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
