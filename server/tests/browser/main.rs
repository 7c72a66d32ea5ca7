//! Tests in a browser: what a person sees on the pages, and what the browser keeps of it.
//!
//! Needs Chromium and its driver (`script/test` installs them); with `PROMPTARIUM_SKIP_BROWSER=1`
//! no test of this program runs. Each test has a server and a browser profile of its own.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails where something unexpected happens"
)]

mod browser;
mod driver;
mod proxy;
mod site;
mod webdriver;

mod account;
mod generations;
mod keys;
mod origins;
mod pages;
mod prompts;
mod sign_in;
mod uploads;
mod vaults;

use std::io::Write;
use std::sync::Once;
use std::time::Duration;

/// No test waits longer for anything.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Set to 1 where there is no browser.
const SKIP: &str = "PROMPTARIUM_SKIP_BROWSER";

/// Declares tests in the module `in_memory` or `on_postgres`: each function takes its site.
macro_rules! tests_on {
    ($store:ident: $($name:ident),+) => {
        mod $store {
            $(
                #[tokio::test]
                async fn $name() {
                    if crate::is_wanted() {
                        super::$name(crate::site::Site::$store().await).await;
                    }
                }
            )+
        }
    };
}
use tests_on;

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
