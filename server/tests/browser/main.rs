//! Tests in a browser: what a person sees on the pages, and what the browser keeps of it.
//!
//! Needs Chromium (`script/test` installs it); with `PROMPTARIUM_SKIP_BROWSER=1` no test of this
//! program runs. One Chromium serves all tests; each has a profile and a server of its own.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails where something unexpected happens"
)]

mod browser;
mod chromium;
mod site;

mod access;
mod documents;
mod looks;
mod pages;
mod pictures;
mod prompts;

use std::io::Write;
use std::sync::Once;
use std::time::Duration;

/// No test waits longer for anything.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Set to 1 where there is no browser.
const SKIP: &str = "PROMPTARIUM_SKIP_BROWSER";

/// Declares tests in a module that is named as the function that makes their browser.
macro_rules! tests {
    ($kind:ident: $($name:ident),+) => {
        mod $kind {
            $(
                #[tokio::test]
                async fn $name() {
                    if crate::is_wanted() {
                        let mut browser = crate::browser::Browser::$kind().await;
                        super::$name(&mut browser).await;
                        browser.end().await;
                    }
                }
            )+
        }
    };
}
use tests;

/// Whether the tests run. If not, the first one says so.
fn is_wanted() -> bool {
    static SAID: Once = Once::new();
    let skipped = std::env::var(SKIP).is_ok_and(|value| value == "1");
    if skipped {
        SAID.call_once(|| say(&format!("BROWSER TESTS SKIPPED, as {SKIP} is 1")));
    }
    !skipped
}

/// A line that the test harness shows although the test passes, as it would not show `eprintln!`.
fn say(line: &str) {
    let mut stderr = std::io::stderr();
    writeln!(stderr, "\n*** {line} ***").unwrap();
}
