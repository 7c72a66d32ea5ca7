//! Texts that are markup, and texts that turn the direction of what is around them.

use promptarium_server::EmbeddedServer;
use promptarium_server::provider::PollError;
use serde_json::json;

use crate::generations::SlowProvider;
use crate::support::browser::{Browser, assert_has, encoded, two_accounts};

/// Right-to-left override, which nothing ends.
const TURN: char = '\u{202e}';
/// With [`TURN`] in it.
pub(super) const HOSTILE: &str =
    "\"'>\u{202e}<script>alert(1)</script>&amp;<img src=x onerror=alert(2)>";

/// Checks that each turning text in a page ends where its element ends; gives their number.
fn isolated(page: &str) -> usize {
    let turns = page.match_indices(TURN);
    turns
        .map(|(at, _)| {
            let (before, after) = page.split_at(at);
            let tag = &before[before.rfind('<').unwrap()..];
            let (tag, text) = tag.split_once('>').unwrap_or((tag, ""));
            let is_title = tag == "<title" && text.starts_with('\u{2068}');
            let is_title = is_title && after.split('<').next().unwrap().contains('\u{2069}');
            let is_isolated = tag == "<bdi" || tag.contains("dir=\"auto\"") || is_title;
            assert!(is_isolated, "{tag}>{text}{TURN} in {page}");
        })
        .count()
}

#[tokio::test]
async fn what_people_type_is_escaped_and_does_not_turn_the_text_around_it() {
    let reason = format!("{HOSTILE}{}", "\"".repeat(500));
    let builder =
        EmbeddedServer::builder().provider(SlowProvider::failing(PollError::permanent(reason)));
    let builder = builder.seed_key("promptarium_live_a1_s=<b>al\u{202e}&ice</b>");
    let browser = Browser::on(builder.start().await.unwrap()).await;
    let vault = json!({ "name": &HOSTILE[..48], "description": HOSTILE });
    let vault = browser.create("/vaults", vault).await["id"].clone();
    let prompt = json!({
        "title": HOSTILE, "prompt": HOSTILE, "platform": HOSTILE, "vaultId": vault,
        "promptType": "image", "modelId": format!("local/{HOSTILE}"),
        "aspectRatio": format!("\"><i>{TURN}"), "imageUrl": "https://example.com/a",
    });
    let prompt = browser.create("/prompts", prompt).await["id"].clone();
    let job = json!({ "modelId": HOSTILE, "prompt": HOSTILE, "clientJobId": HOSTILE,
        "aspectRatio": format!("r{TURN}") });
    browser.create("/generations", job).await;
    let jobs = browser.ended_jobs().await;
    assert!(jobs.contains("Failed: </span><bdi>&quot;'&gt;\u{202e}&lt;script&gt;"), "{jobs}");
    let created = browser.post("/keys", &encoded(&[("name", HOSTILE)])).await.body;
    let mut pages = vec![(created, 1), (jobs, 4)];
    for (path, turns) in [
        ("/prompts", 3),
        ("/vaults", 1),
        ("/keys", 2),
        (&format!("/prompts/{prompt}"), 7),
        (&format!("/prompts/{prompt}/edit"), 1),
        (&format!("/prompts/new?from={prompt}"), 1),
        (&format!("/generate?prompt={prompt}"), 1),
        (&format!("/prompts?view=list&vaultId={vault}"), 1),
        (&format!("/vaults/{vault}"), 4),
    ] {
        pages.push((browser.page(path).await, turns));
    }
    for (page, _) in &pages {
        assert!(page.contains("&lt;script&gt;alert(1)"), "{page}");
    }
    for path in [
        "/",
        "/sessions",
        "/prompts?type=%E2%80%AE&vaultId=%E2%80%AE",
        "/prompts?cursor=%E2%80%AE",
        "/jobs?before=%E2%80%AE",
    ] {
        pages.push((browser.get(path).await.body, 0));
    }
    pages.push((browser.post("/keys", "name=n&scope=%E2%80%AE").await.body, 0));
    for (page, turns) in pages {
        // Beside the account, which is in the header of each page.
        assert!(isolated(&page) > turns, "{page}");
        assert!(page.contains("&lt;b&gt;al\u{202e}&amp;ice&lt;/b&gt;"), "{page}");
        for raw in ["<script>alert", "<img", "<i>", "<b>al", "\"'>"] {
            assert!(!page.contains(raw), "{raw} in {page}");
        }
    }
}

#[tokio::test]
async fn variables_are_marked_and_filled_in_by_a_form() {
    let (alice, _) = two_accounts().await;
    let vault = alice.vault("Letters", "public").await;
    let body = json!({
        "title": "Letter", "prompt": "Dear {{name}}, {{greeting|hello}} <b>", "vaultId": vault,
    });
    let prompt = alice.create("/prompts", body).await["id"].to_string();
    let own = format!("/prompts/{prompt}");
    let shared = format!("/v/alice/letters?prompt={prompt}");
    for (page, query) in [(own, "?"), (shared, "&")] {
        let marked = "Dear <mark>{{name}}</mark>, <mark>{{greeting|hello}}</mark> &lt;b&gt;";
        assert_has(
            &alice.page(&page).await,
            &[marked, "name=\"var.name\"", "placeholder=\"hello\""],
        );
        let filled = alice.page(&format!("{page}{query}var.name=%3Ci%3E+Bob")).await;
        assert_has(&filled, &["Dear &lt;i&gt; Bob, hello &lt;b&gt;"]);
    }
}
