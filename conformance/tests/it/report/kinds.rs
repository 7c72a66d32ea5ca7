//! A report in which everything that can come of a scenario has come of one, and
//! in which the target said what hurts most wherever it could.

use jiff::civil::date;
use promptarium_conformance::scenarios::prelude::Result;

use crate::prelude::*;

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
async fn passes(case: Case) -> Result {
    case.vault().await.map(drop)
}

/// Its set-up is a call that the target fails.
async fn builds_on_a_prompt(case: Case) -> Result {
    case.prompt().await.map(drop)
}

async fn looks(case: Case) -> Result {
    case.wire().get("/vaults").await?.status(200).map(drop)
}

async fn fails(case: Case) -> Result {
    looks(case.clone()).await?;
    let reply = case.wire().call(http::Method::POST, "/hostile").body("text/plain", HOSTILE);
    let reply = reply.send().await?;
    Err(reply.failure(format!("a good answer, not {HOSTILE}"), format!("a bad one: {HOSTILE}")))
}

async fn hangs(case: Case) -> Result {
    case.anonymous().get("/hang").await.map(drop)
}

pub(super) async fn target() -> (Stub, Arc<Target>) {
    let stub = Stub::start(|line| match line {
        "GET /hang" => Answer::Hang,
        "POST /vaults" => Answer::data(201, json!({ "id": 5 })),
        "GET /vaults" => Answer::no_vaults(),
        "POST /hostile" => Answer::Html(500, HOSTILE),
        _ => Answer::nothing(500),
    });
    let stub = stub.await;
    let config = TargetConfig { other_api_key: None, ..stub.config() };
    let target = Target::new(config).unwrap();
    (stub, target.into())
}

pub(super) async fn run() -> (Stub, Run) {
    let (stub, target) = target().await;
    let selection = Selection { filters: vec!["plain".into()], ..selection(&SCENARIOS) };
    let mut run = Run::new(target, selection);
    let known = KnownFailures::parse("known.toml", KNOWN, date(2026, 6, 1), |_| true);
    (run.report.known, run.report.seed) = (known.unwrap(), 7);
    (stub, run)
}

pub(super) async fn report() -> Report {
    let (_stub, run) = run().await;
    let report = finish(run).await;
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
    [begun, stopped, finish(run).await]
}
