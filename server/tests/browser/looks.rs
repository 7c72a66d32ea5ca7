//! How the pages look, and whether everyone can use them.

use std::fs;
use std::path::{Path, PathBuf};

use data_encoding::BASE64;
use futures::future::join_all;
use serde_json::json;

use crate::browser::Browser;
use crate::pages::{EMPTY, SHORTCUTS, fill, open};
use crate::{say, tests};

// What a page looks like does not depend on the store.
tests!(in_memory: every_page_fits_its_window_can_be_used_with_the_keyboard_and_passes_axe);

/// Each scheme and each width once: colours do not depend on the width, nor widths on colours.
const LOOKS: [(&str, u32); 2] = [("light", 1280), ("dark", 320)];

/// Set to 1 for a picture of every page.
const SCREENSHOTS: &str = "PROMPTARIUM_TEST_SCREENSHOTS";

/// Pages are checked by so many browsers at once.
const BROWSERS: usize = 3;

/// The folder of the build, below which screenshots and `axe.min.js` are.
fn target() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().to_owned()
}

async fn every_page_fits_its_window_can_be_used_with_the_keyboard_and_passes_axe(
    browser: &mut Browser,
) {
    let axe = fs::read_to_string(target().join("browser/axe.min.js")).unwrap_or_default();
    if axe.is_empty() {
        say("CHECKS WITH AXE SKIPPED: script/test puts axe.min.js into target/browser");
    }
    browser.sign_in().await;
    for (name, page) in EMPTY {
        check(browser, name, page, &axe).await;
    }
    let pages = fill(browser).await;
    join_all(pages.chunks(pages.len().div_ceil(BROWSERS)).map(async |pages| {
        let mut browser = browser.other().await;
        browser.sign_in().await;
        for (name, page) in pages {
            check(&mut browser, name, page, &axe).await;
        }
        browser.end().await;
    }))
    .await;
}

async fn check(browser: &mut Browser, name: &str, page: &str, axe: &str) {
    open(browser, name, page).await;
    let browser = &*browser;
    let emulate = async |command, parameters| {
        browser.devtools(&format!("Emulation.{command}"), parameters).await;
    };
    browser.check_source().await;
    // A dialog has the focus on its first control already.
    if name != SHORTCUTS {
        assert_keyboard(browser, name).await;
    }
    browser.execute(&format!("{axe};0")).await;
    emulate("setScrollbarsHidden", json!({ "hidden": true })).await;
    for (scheme, width) in LOOKS {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        emulate("setEmulatedMedia", json!({ "features": features })).await;
        let screen =
            json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false });
        emulate("setDeviceMetricsOverride", screen).await;
        assert_eq!(browser.execute(WIDER).await, json!([]), "{name} is too wide at {width}");
        if !axe.is_empty() {
            assert_eq!(browser.execute(AUDIT).await, json!([]), "{name}: {scheme}, {width}");
        }
        if std::env::var(SCREENSHOTS).is_ok_and(|value| value == "1") {
            let file = target().join(format!("screenshots/{name}-{scheme}-{width}.png"));
            screenshot(browser, &file).await;
        }
    }
    emulate("clearDeviceMetricsOverride", json!({})).await;
}

/// Makes a picture of the whole page.
pub(crate) async fn screenshot(browser: &Browser, file: &Path) {
    let whole = json!({ "captureBeyondViewport": true });
    let picture = browser.devtools("Page.captureScreenshot", whole).await;
    let bytes = BASE64.decode(picture["data"].as_str().unwrap().as_bytes()).unwrap();
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, bytes).unwrap();
}

/// Elements that reach beyond the right edge of the window.
const WIDER: &str = "
    (page => page.scrollWidth <= page.clientWidth ? []
        : [...document.body.querySelectorAll('*')]
            .filter(e => e.getBoundingClientRect().right > page.clientWidth)
            .map(e => e.outerHTML.slice(0, 200)).concat(['something']))(document.documentElement)";

const AUDIT: &str = "
    axe.run().then(found => found.violations.map(rule =>
        [rule.id, rule.help, rule.nodes.map(node => node.html.slice(0, 200))]))";

/// What a person can do something with. A page may replace some of it while it is open.
const CONTROLS: &str = "
    [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, \
        summary, textarea, video[controls], [tabindex=\"0\"]')].filter(control =>
        control.checkVisibility() && control.tabIndex >= 0
        && (control.type !== 'radio' || control.checked))";

/// What has the focus: its number among these controls, and how that shows.
const FOCUSED: &str = "
    ((focused, controls) => {
        const style = getComputedStyle(focused), rect = focused.getBoundingClientRect();
        const inside = rect.right > 0 && rect.left < innerWidth && rect.width > 0;
        return [controls.indexOf(focused),
            inside && style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
            focused.outerHTML.slice(0, 200)];
    })(document.activeElement, ";

/// Tab reaches each control in its order, and the focus shows.
async fn assert_keyboard(browser: &Browser, name: &str) {
    let controls = browser.execute(&format!("{CONTROLS}.length")).await;
    for expected in 0..controls.as_u64().unwrap() {
        browser.key("Tab").await;
        let got = browser.execute(&format!("{FOCUSED}{CONTROLS})")).await;
        assert_eq!(got[0], expected, "{name}: Tab leads to {}", got[2]);
        assert_eq!(got[1], true, "{name}: the focus does not show on {}", got[2]);
    }
}
