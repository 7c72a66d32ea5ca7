//! The browser session of a run: a link is used once, given up in the end, and shown nowhere.

use promptarium_conformance::report::Format;

use crate::cli::{assert_refused, folder, program, stderr, stdout};
use crate::deployed;
use crate::keys::{MAIN, OTHER};
use crate::stub::{Answer, KEY, Request, Stub};

const CODE: &str = "c0deOfALinkThatMustNotShow_0123456789-AbCdE";
const SESSION: &str = "sess1onThatMustNotShow_9876543210-FgHiJkLmN";

const KEYS: [&str; 5] = ["run", "--profile", "reference", "--filter", "keys."];

#[tokio::test]
async fn a_link_opens_a_session_for_one_run_and_none_for_the_next() {
    let server = deployed::server().await;
    let link = server.sign_in_url().await.unwrap();
    let variables = [
        ("PROMPTARIUM_BASE_URL", server.base_url()),
        ("PROMPTARIUM_API_KEY", MAIN),
        ("PROMPTARIUM_SIGN_IN_URL", &link),
    ];
    let output = program(&KEYS, &variables).await;
    let told = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{told}{}", stderr(&output));
    assert!(!told.contains("--sign-in-url"), "nothing that needs a session is skipped: {told}");
    let again = program(&[&KEYS[..], &["--sign-in-url", &link]].concat(), &variables[..2]).await;
    assert_refused(&again, 2, "promptarium-server sign-in ACCOUNT");
    assert!(stderr(&again).contains("--sign-in-url"));
}

#[tokio::test]
async fn a_link_to_another_account_is_refused() {
    let server = deployed::server().await;
    let link = server.sign_in_url().await.unwrap();
    let variables = [
        ("PROMPTARIUM_BASE_URL", server.base_url()),
        ("PROMPTARIUM_API_KEY", OTHER),
        ("PROMPTARIUM_SIGN_IN_URL", &link),
    ];
    assert_refused(&program(&KEYS, &variables).await, 2, "for another account");
}

#[tokio::test]
async fn a_link_that_is_none_of_the_target_is_refused_and_not_shown() {
    let base_url = ["--base-url", "http://127.0.0.1:1/api/v1", "--sign-in-url"];
    for link in [
        format!("http://127.0.0.1:2/sign-in#{CODE}"),
        format!("https://127.0.0.1:1/sign-in#{CODE}"),
        format!("http://127.0.0.1:1/api/v1/sign-in#{CODE}"),
        format!("http://127.0.0.1:1/sign-in?code={CODE}"),
        "http://127.0.0.1:1/sign-in".to_owned(),
        CODE.to_owned(),
    ] {
        let arguments = [&KEYS[..], &base_url, &[link.as_str()]].concat();
        let output = program(&arguments, &[("PROMPTARIUM_API_KEY", KEY)]).await;
        assert_refused(&output, 2, "http://127.0.0.1:1/sign-in#CODE");
        assert!(!stderr(&output).contains(CODE), "{link}");
    }
}

#[tokio::test]
async fn without_a_link_the_report_says_what_to_pass() {
    let server = deployed::server().await;
    let variables = [("PROMPTARIUM_BASE_URL", server.base_url()), ("PROMPTARIUM_API_KEY", MAIN)];
    let output = program(&KEYS, &variables).await;
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    assert!(stdout(&output).contains("PROMPTARIUM_SIGN_IN_URL"), "{}", stdout(&output));
}

/// Signs in, and repeats the code and the cookie in every other response.
fn repeats_secrets(request: &Request) -> Answer {
    let echoed = format!("x-echoed: {CODE} {SESSION}\r\nset-cookie: other={SESSION}; HttpOnly");
    match request.line.as_str() {
        "GET /vaults" => Answer::Json(200, r#"{"data":[],"error":null}"#.into()),
        line if line.starts_with("POST") && line.ends_with("/sign-in") => {
            Answer::With(303, format!("set-cookie: s={SESSION}; HttpOnly"), CODE.into())
        }
        _ => Answer::With(
            201,
            echoed,
            format!(r#"{{"data":{{"publicId":"{SESSION}","key":"{KEY}new"}},"error":"{CODE}"}}"#),
        ),
    }
}

#[tokio::test]
async fn a_code_and_a_cookie_that_a_target_repeats_are_shown_nowhere() {
    let stub = Stub::start(repeats_secrets).await;
    let folder = folder("session-canary");
    let link = format!("{}#{CODE}", stub.base_url.replace("/api/v1", "/sign-in"));
    let report = |name: &str| format!("{name}={}", folder.join(name).display());
    let reports: Vec<_> =
        Format::ALL.iter().flat_map(|(name, _)| ["--report".to_owned(), report(name)]).collect();
    let reports: Vec<_> = reports.iter().map(String::as_str).collect();
    let arguments =
        [&KEYS[..], &["--verbose", "--timeout", "1", "--sign-in-url", &link], &reports].concat();
    let variables =
        [("PROMPTARIUM_API_KEY", KEY), ("PROMPTARIUM_BASE_URL", stub.base_url.as_str())];
    let output = program(&arguments, &variables).await;
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let mut told = vec![stdout(&output), stderr(&output)];
    told.extend(
        Format::ALL.iter().map(|(name, _)| std::fs::read_to_string(folder.join(name)).unwrap()),
    );
    assert!(told[0].contains("x-echoed: [code] [session]"), "{}", told[0]);
    for (secret, text) in
        [CODE, SESSION].iter().flat_map(|one| told.iter().map(move |text| (one, text)))
    {
        for piece in secret.as_bytes().windows(12) {
            let piece = std::str::from_utf8(piece).unwrap();
            assert!(!text.contains(piece), "{piece} in {text}");
        }
    }
    let out = stub.seen().iter().any(|line| line.ends_with("/sign-out"));
    assert!(out, "the run ended its session");
}
