//! How the pages look, and whether everyone can use them.

use std::fs;
use std::path::PathBuf;

use data_encoding::BASE64;
use futures::{StreamExt, stream};
use promptarium::{Client, Visibility};
use serde_json::json;

use crate::browser::Browser;
use crate::site::Site;
use crate::{say, tests_on};

// What a page looks like does not depend on the store.
tests_on!(in_memory: pages_fit_a_narrow_screen, the_keyboard_reaches_everything, axe_finds_nothing);

/// Pages that answer a form or a key.
const NEW_KEY: &str = "key-new";
const REFUSED: &str = "prompt-refused";
const REFUSED_GENERATION: &str = "generate-refused";
const CHOSEN: &str = "prompts-chosen";
const SHORTCUTS: &str = "shortcuts";

/// Pages by the name of their screenshot. `{prompt}` and others are the data of [`fill`].
const PAGES: [(&str, &str); 40] = [
    ("overview", ""),
    ("prompts", "prompts"),
    ("prompts-list", "prompts?view=list"),
    ("prompts-of-vault", "prompts?vaultId={vault}"),
    ("prompts-found", "prompts?q=harbour&type=image"),
    ("prompts-not-found", "prompts?vaultId={empty}"),
    ("prompt", "prompts/{prompt}"),
    ("prompt-long", "prompts/{long}"),
    ("prompt-with-picture", "prompts/{picture}"),
    ("prompt-with-animation", "prompts/{animation}"),
    ("prompt-new", "prompts/new"),
    ("prompt-edit", "prompts/{prompt}/edit"),
    ("prompt-delete", "prompts/{prompt}/delete"),
    ("prompt-deleted", "prompts?done=prompt-deleted"),
    ("generate", "generate?prompt={picture}"),
    ("vaults", "vaults"),
    ("vault", "vaults/{vault}"),
    ("vault-empty", "vaults/{empty}"),
    ("vault-new", "vaults/new"),
    ("vault-edit", "vaults/{vault}/edit"),
    ("vault-delete", "vaults/{vault}/delete"),
    ("vault-shared", "v/kingfisher/shared"),
    ("uploads", "uploads"),
    ("account", "account"),
    ("account-delete", "account/delete"),
    ("jobs", "jobs"),
    ("job-running", "jobs/running"),
    ("job-failed", "jobs/failed"),
    ("job-completed", "jobs/completed"),
    ("keys", "keys"),
    ("key-to-revoke", "keys/{key}/revoke"),
    ("sessions", "sessions"),
    ("not-found", "prompts/999999"),
    ("not-valid", "prompts?type=nothing"),
    ("sign-in", "sign-in"),
    (NEW_KEY, "keys"),
    (REFUSED, "prompts/new"),
    (REFUSED_GENERATION, "generate"),
    (CHOSEN, "prompts?view=list"),
    (SHORTCUTS, "prompts"),
];

/// Pages of an account that has nothing.
const EMPTY: [(&str, &str); 4] = [
    ("empty-overview", ""),
    ("empty-prompts", "prompts"),
    ("empty-vaults", "vaults"),
    ("empty-jobs", "jobs"),
];

const WIDTHS: [u32; 2] = [1280, 320];
const SCHEMES: [&str; 2] = ["light", "dark"];

/// The folder of the build, below which screenshots and `axe.min.js` are.
fn target() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().to_owned()
}

/// An account with long texts and words; gives the addresses of the pages.
async fn fill(site: &Site) -> Vec<(&'static str, String)> {
    let client: Client = site.client();
    let word = "Donaudampfschifffahrtsgesellschaftskapitaen".repeat(3);
    let vault = client.vaults().create(format!("Vault of {}", &word[..41])).await.unwrap();
    let empty = client.vaults().create("Empty").await.unwrap();
    let shared = client.vaults().create("Shared").visibility(Visibility::Public).await.unwrap();
    let title = format!("Harbour {}", &word[..100]);
    let creating =
        client.prompts().create(&*title, format!("{}{word}", "A long text. ".repeat(40)));
    let prompt = creating.vault(vault.id).await.unwrap();
    let long = client.prompts().create("Long", "A long text. ".repeat(1_150)).await.unwrap();
    let generations = client.generations();
    let painting = generations.create("local/plasma", "A harbour before sunrise");
    let painting = painting.vault(shared.id).client_job_id("completed").await.unwrap();
    let painted = generations.wait(painting).await.unwrap();
    let moving = generations.create("local/plasma-video", "Waves").video();
    let moving = generations.wait(moving.await.unwrap()).await.unwrap();
    let failing = generations.create("local/fail", format!("Fails {word}"));
    let failing = failing.client_job_id("failed").await.unwrap();
    generations.wait(failing).await.unwrap_err();
    // It runs as long as the test.
    let running = generations.create("local/slow", format!("Runs {word}"));
    running.client_job_id("running").parameter("seconds", 600).await.unwrap();
    stream::iter(0..200)
        .for_each_concurrent(8, |number| {
            let creating = client.prompts().create(format!("Prompt {number}"), "text");
            async { drop(creating.await.unwrap()) }
        })
        .await;
    let names = [
        ("{prompt}", prompt.id.to_string()),
        ("{picture}", painted.status.prompt_id.unwrap().to_string()),
        ("{animation}", moving.status.prompt_id.unwrap().to_string()),
        ("{long}", long.id.to_string()),
        ("{vault}", vault.id.to_string()),
        ("{empty}", empty.id.to_string()),
        ("{key}", "b1".to_owned()),
    ];
    let address = |page: &str| {
        let filled = names.iter().fold(page.to_owned(), |page, (name, id)| page.replace(name, id));
        site.page(&filled)
    };
    PAGES.iter().map(|(name, page)| (*name, address(page))).collect()
}

/// A browser that is signed in beside another one, and the pages.
async fn signed_in(site: &Site) -> (Browser, Vec<(&'static str, String)>) {
    let pages = fill(site).await;
    let mut browser = Browser::start().await;
    browser.sign_in(site).await;
    browser.driver.delete_cookies().await;
    browser.sign_in(site).await;
    (browser, pages)
}

async fn open(browser: &Browser, name: &str, address: &str) {
    browser.open(address).await;
    match name {
        NEW_KEY => {
            browser.fill("name", "laptop").await;
            browser.click("Create key").await;
            browser.find("//pre").await;
        }
        REFUSED => {
            browser.fill("title", "Title").await;
            browser.fill("prompt", "Text").await;
            browser.choose("promptType", "video").await;
            browser.click("Save prompt").await;
            browser.find("//p[@id='modelId-error']").await;
        }
        REFUSED_GENERATION => {
            browser.fill("prompt", "Text").await;
            browser.replace("modelId", "local/refuse").await;
            browser.click("Generate").await;
            browser.find("//*[@role='alert']").await;
        }
        CHOSEN => {
            browser.click_on("//main//li[1]//input[@name='id']").await;
            browser.click("Add to vault").await;
            browser.find("//main//a[.='Cancel']").await;
        }
        SHORTCUTS => {
            browser.click("Keyboard shortcuts").await;
            browser.find("//dialog[@open]").await;
        }
        _ => {}
    }
}

/// Does something with the page in each scheme and width; gets a name for both.
async fn in_all_looks(browser: &Browser, work: impl AsyncFn(String)) {
    let devtools = async |command, parameters| {
        browser.driver.devtools(&format!("Emulation.{command}"), parameters).await;
    };
    devtools("setScrollbarsHidden", json!({ "hidden": true })).await;
    for scheme in SCHEMES {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        devtools("setEmulatedMedia", json!({ "features": features })).await;
        for width in WIDTHS {
            let screen =
                json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false });
            devtools("setDeviceMetricsOverride", screen).await;
            work(format!("{scheme}-{width}")).await;
        }
    }
}

/// Makes a picture of the whole page.
async fn screenshot(browser: &Browser, name: &str) {
    let whole = json!({ "captureBeyondViewport": true });
    let picture = browser.driver.devtools("Page.captureScreenshot", whole).await;
    let bytes = BASE64.decode(picture["data"].as_str().unwrap().as_bytes()).unwrap();
    let folder = target().join("screenshots");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{name}.png")), bytes).unwrap();
}

/// Elements that reach beyond the right edge of the window.
const WIDER: &str = "
    const page = document.documentElement;
    if (page.scrollWidth <= page.clientWidth) return [];
    return [...document.body.querySelectorAll('*')]
        .filter(e => e.getBoundingClientRect().right > page.clientWidth)
        .map(e => e.outerHTML.slice(0, 200)).concat(['something']);";

async fn pages_fit_a_narrow_screen(site: Site) {
    let (browser, pages) = signed_in(&site).await;
    for (name, address) in pages {
        open(&browser, name, &address).await;
        in_all_looks(&browser, async |look| {
            screenshot(&browser, &format!("{name}-{look}")).await;
            let wider = browser.driver.execute(WIDER).await;
            assert_eq!(wider, json!([]), "{name} is too wide: {look}");
        })
        .await;
        browser.check_source().await;
    }
    browser.end(&site).await;
}

/// What a person can do something with.
const CONTROLS: &str = "
    const top = document.querySelector('dialog[open]') || document;
    return [...top.querySelectorAll('a[href], button, input:not([type=hidden]), select, summary, \
        textarea, video[controls], [tabindex=\"0\"]')].filter(control => control.checkVisibility()
        && control.tabIndex >= 0 && (control.type !== 'radio' || control.checked));";

/// What has the focus: its number among the controls, and how that shows.
const FOCUSED: &str = "
    const focused = document.activeElement, style = getComputedStyle(focused);
    const rect = focused.getBoundingClientRect();
    const inside = rect.right > 0 && rect.left < innerWidth && rect.width > 0;
    return [CONTROLS().indexOf(focused),
        inside && style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
        focused.outerHTML.slice(0, 200)];";

async fn the_keyboard_reaches_everything(site: Site) {
    let (browser, pages) = signed_in(&site).await;
    let focused = FOCUSED.replace("CONTROLS()", &format!("(() => {{{CONTROLS}}})()"));
    // A dialog has the focus on its first control already.
    for (name, address) in pages.into_iter().filter(|(name, _)| *name != SHORTCUTS) {
        open(&browser, name, &address).await;
        let controls =
            browser.driver.execute(&format!("return (() => {{{CONTROLS}}})().length")).await;
        for expected in 0..controls.as_u64().unwrap() {
            browser.driver.press_tab().await;
            let got = browser.driver.execute(&focused).await;
            assert_eq!(got[0], expected, "{name}: Tab leads to {}", got[2]);
            assert_eq!(got[1], true, "{name}: the focus does not show on {}", got[2]);
        }
    }
    browser.end(&site).await;
}

async fn axe_finds_nothing(site: Site) {
    let path = target().join("browser/axe.min.js");
    let Ok(axe) = fs::read_to_string(&path) else {
        return say("TEST WITH AXE SKIPPED: script/test puts axe.min.js into target/browser");
    };
    let mut browser = Browser::start().await;
    browser.sign_in(&site).await;
    for (name, page) in EMPTY {
        audit(&browser, &axe, name, &site.page(page)).await;
    }
    browser.end(&site).await;
    let (browser, pages) = signed_in(&site).await;
    for (name, address) in pages {
        audit(&browser, &axe, name, &address).await;
    }
    browser.end(&site).await;
}

async fn audit(browser: &Browser, axe: &str, name: &str, address: &str) {
    open(browser, name, address).await;
    browser.driver.execute(axe).await;
    in_all_looks(browser, async |look| {
        let audit = "axe.run().then(found => arguments[0](found.violations.map(rule =>
            [rule.id, rule.help, rule.nodes.map(node => node.html.slice(0, 200))])))";
        let found = browser.driver.execute_async(audit, Vec::new()).await;
        assert_eq!(found, json!([]), "{name}: {look}");
    })
    .await;
}
