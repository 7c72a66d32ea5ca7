//! The browser session of a run: a link is used once, and one that cannot be used is not shown.

use crate::deployed;
use crate::keys::{MAIN, OTHER};
use crate::program::{Ran, program};
use crate::stub::KEY;

const CODE: &str = "c0deOfALinkThatMustNotShow_0123456789-AbCdE";

/// The scenarios of keys with this link, if there is one.
async fn keys(base_url: &str, key: &str, link: Option<&str>) -> Ran {
    let mut variables = vec![("PROMPTARIUM_BASE_URL", base_url), ("PROMPTARIUM_API_KEY", key)];
    variables.extend(link.map(|link| ("PROMPTARIUM_SIGN_IN_URL", link)));
    program(&["run", "--profile", "reference", "--filter", "keys."], &variables).await
}

#[tokio::test]
async fn a_link_opens_a_session_for_one_run_and_none_for_the_next() {
    let server = deployed::server().await;
    let link = server.sign_in_url().await.unwrap();
    let ran = keys(server.base_url(), MAIN, Some(&link)).await.ended(0, &[]);
    assert!(!ran.out.contains("--sign-in-url"), "what needs a session is skipped: {}", ran.out);
    let again = keys(server.base_url(), MAIN, Some(&link)).await;
    again.refused(2, "promptarium-server sign-in ACCOUNT").ended(2, &["--sign-in-url"]);
    let other = server.sign_in_url().await.unwrap();
    keys(server.base_url(), OTHER, Some(&other)).await.refused(2, "for another account");
    keys(server.base_url(), MAIN, None).await.ended(0, &["PROMPTARIUM_SIGN_IN_URL"]);
    server.shutdown().await;
}

#[tokio::test]
async fn a_link_that_is_none_of_the_target_is_refused_and_not_shown() {
    for link in [
        format!("http://127.0.0.1:2/sign-in#{CODE}"),
        format!("https://127.0.0.1:1/sign-in#{CODE}"),
        format!("http://127.0.0.1:1/api/v1/sign-in#{CODE}"),
        format!("http://127.0.0.1:1/sign-in?code={CODE}"),
        "http://127.0.0.1:1/sign-in".to_owned(),
        CODE.to_owned(),
    ] {
        let ran = keys("http://127.0.0.1:1/api/v1", KEY, Some(&link)).await;
        let ran = ran.refused(2, "http://127.0.0.1:1/sign-in#CODE");
        assert!(!ran.err.contains(CODE), "{link}");
    }
}
