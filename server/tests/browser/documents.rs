//! The pictures of the dashboard in the documents. `script/pictures` makes them anew.

use std::path::Path;

use serde_json::json;

use crate::browser::Browser;
use crate::looks::screenshot;

/// Title, platform and text of the prompts that are no pictures; the oldest first.
const TEXTS: [[&str; 3]; 2] = [
    ["Release notes", "ChatGPT", "Turn these commits into release notes for {{audience}}."],
    ["Summarise a meeting", "Claude", "Decisions, open questions, who does what: {{notes}}"],
];

/// The prompts of the pictures; the oldest first.
const PICTURES: [&str; 8] = [
    "Poppies on a meadow, a summer morning",
    "An autumn forest in the mist",
    "Neon city in the rain at night",
    "Desert dunes at dusk, long shadows",
    "A lighthouse in a storm, high waves",
    "Forest with a full moon and stars",
    "Snowy mountains above the clouds",
    "A harbour before sunrise, fishing boats on the sea",
];

#[tokio::test]
#[ignore = "writes files of the documents"]
async fn the_pictures_of_the_documents_are_made() {
    let mut browser = Browser::on_postgres().await;
    let client = browser.site.client();
    for [title, platform, text] in TEXTS {
        client.prompts().create(title, text).platform(platform).await.unwrap();
    }
    for text in PICTURES {
        client.generations().create("local/plasma", text).and_wait().await.unwrap();
    }
    browser.sign_in().await;
    browser.open("prompts").await;
    let loaded = "Promise.all([...document.images].map(image => {
        image.loading = 'eager'; return image.decode() })).then(() => true)";
    browser.until(loaded, true).await;
    let screen = json!({ "width": 1280, "height": 860, "deviceScaleFactor": 1, "mobile": false });
    browser.devtools("Emulation.setDeviceMetricsOverride", screen).await;
    browser.devtools("Emulation.setScrollbarsHidden", json!({ "hidden": true })).await;
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    for (scheme, file) in [("light", "dashboard.png"), ("dark", "dashboard-dark.png")] {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        browser.devtools("Emulation.setEmulatedMedia", json!({ "features": features })).await;
        screenshot(&browser, &docs.join(file)).await;
    }
    browser.end().await;
}
