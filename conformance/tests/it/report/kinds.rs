//! A report in which everything that can come of a scenario has come of one, and
//! in which the target said what hurts most wherever it could.

use std::sync::Arc;
use std::time::Duration;

use jiff::civil::date;
use promptarium_conformance::{
    Case, Failure, KnownFailures, Report, Run, Scenario, Selection, Target, TargetConfig,
    Untestable,
};

use crate::isolation::{scenario, selection};
use crate::stub::{Answer, KEY, Stub};

/// What each format must not take for markup, for a command or for a key press.
pub(super) const HOSTILE: &str = "</code></pre><img src=x onerror=alert(1)><script>alert(2)\
    </script> ]]> --> &amp; \"quoted\" 'quoted' `code` ```fence``` ````` | pipe | <!-- \
    \u{1b}[31mred \u{0} \u{8} \u{b} \u{202e}turned \u{fffe} @someone #1 ::error::no\n\
    ::error::line\n```\n~~~\n# heading <details>";

pub(super) const KNOWN: &str = r#"
[[failure]]
id = "known.fails.as-listed"
reason = "<b>Somebody</b> is on it"
link = "https://tracker.example/?a=1&b=2"
until = 2030-01-31

[[failure]]
id = "known.passes.all-the-same"
reason = "old"

[[failure]]
id = "known.is.over"
reason = "late"
until = 2026-01-31

[[failure]]
id = "known.not.selected"
reason = "elsewhere"
"#;

pub(super) const SCENARIOS: [&Scenario; 9] = [
    scenario!("plain.passes.well", passes),
    scenario!("plain.fails.badly", fails),
    scenario!("plain.hangs.on", hangs),
    scenario!("plain.builds.on-nothing", builds_on_a_prompt),
    scenario!("plain.needs.more", [OtherAccount], passes),
    scenario!("known.fails.as-listed", fails),
    scenario!("known.passes.all-the-same", looks),
    scenario!("known.is.over", fails),
    scenario!("left.something.behind", passes),
];

/// Makes a vault, which the target then does not delete.
async fn passes(case: Case) -> Result<(), Failure> {
    case.vault().await.map(drop)
}

/// Its set-up is a call that the target fails.
async fn builds_on_a_prompt(case: Case) -> Result<(), Failure> {
    case.prompt().await.map(drop)
}

async fn looks(case: Case) -> Result<(), Failure> {
    case.wire().get("/vaults").await?.status(200).map(drop)
}

async fn fails(case: Case) -> Result<(), Failure> {
    looks(case.clone()).await?;
    let reply = case.wire().call(http::Method::POST, "/hostile").body("text/plain", HOSTILE);
    let reply = reply.send().await?;
    Err(reply.failure(format!("a good answer, not {HOSTILE}"), format!("a bad one: {HOSTILE}")))
}

async fn hangs(case: Case) -> Result<(), Failure> {
    case.anonymous().get("/hang").await.map(drop)
}

pub(super) async fn target() -> (Stub, Arc<Target>) {
    let stub = Stub::start(|request| match request.line.as_str() {
        "GET /hang" => Answer::Hang,
        "POST /vaults" => Answer::Json(201, r#"{"data":{"id":5},"error":null}"#.into()),
        "GET /vaults" => Answer::Json(200, r#"{"data":[],"error":null}"#.into()),
        "POST /hostile" => Answer::Html(500, HOSTILE),
        _ => Answer::Json(500, "{}".into()),
    });
    let stub = stub.await;
    let mut config = TargetConfig::new(stub.base_url.parse().unwrap(), KEY);
    config.timeout = Duration::from_secs(2);
    let target = Arc::new(Target::new(config).unwrap());
    (stub, target)
}

pub(super) fn known() -> KnownFailures {
    KnownFailures::parse("known.toml", KNOWN, date(2026, 6, 1), |_| true).unwrap()
}

/// A run of those, with the list of known failures.
pub(super) async fn run() -> (Stub, Run) {
    let (stub, target) = target().await;
    let selection = Selection { filters: vec!["plain".into()], ..selection(&SCENARIOS) };
    let mut run = Run::new(target, selection);
    (run.report.known, run.report.seed) = (known(), 7);
    (stub, run)
}

pub(super) async fn report() -> Report {
    let (_stub, run) = run().await;
    let report = run.run(std::future::pending(), |_, _| {}).await;
    let untestable = Untestable {
        what: "generations".into(),
        reason: "the provider is <i>slow</i>".into(),
        remedy: "give it time".into(),
    };
    Report { untestable: vec![untestable], ..report }
}

/// A run that was stopped, one that passed, and one that has only begun.
pub(super) async fn others() -> [Report; 3] {
    let (_stub, run) = run().await;
    let begun = run.report.clone();
    let stopped = run.run(std::future::ready(()), |_, _| {}).await;
    let (_stub, target) = target().await;
    let run = Run::new(target, selection(&SCENARIOS[..1]));
    [begun, stopped, run.run(std::future::pending(), |_, _| {}).await]
}
