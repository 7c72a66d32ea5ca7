//! The page: safe to open, whatever a target said, and complete without a script.

use data_encoding::BASE64;
use promptarium_conformance::report::html;
use regex::Regex;
use sha2::{Digest as _, Sha256};

use super::kinds;

/// The text between two marks, the first of which is there once.
fn between<'p>(page: &'p str, start: &str, end: &str) -> &'p str {
    assert_eq!(page.matches(start).count(), 1, "{start}");
    page.split_once(start).unwrap().1.split_once(end).unwrap().0
}

/// The page's tags, as a browser takes them: from `<` to the `>` that is in no quotes.
fn tags(page: &str) -> Vec<String> {
    let script = between(page, "<script>", "</script>");
    let style = between(page, "<style>", "</style>");
    let page = page.replace(script, "").replace(style, "");
    let tag = Regex::new(r#"<((?:[^>"]|"[^"]*")*)>"#).unwrap();
    tag.captures_iter(&page).map(|found| found[1].to_owned()).collect()
}

#[tokio::test]
async fn nothing_that_a_target_says_becomes_markup() {
    let page = html::render(&kinds::report().await);
    assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;"));
    for tag in tags(&page) {
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
        assert!(name != "img" && !name.contains("details>"), "{tag}");
        let handlers = tag.split(' ').any(|attribute| attribute.starts_with("on"));
        assert!(!handlers, "{tag}");
    }
    assert_eq!(tags(&page).iter().filter(|tag| *tag == "script").count(), 1);
    let control = |one: char| one.is_control() && one != '\n' || one == '\u{202e}';
    assert!(!page.chars().any(control));
}

#[tokio::test]
async fn every_element_is_closed_where_it_was_opened() {
    let page = html::render(&kinds::report().await);
    let mut open: Vec<String> = Vec::new();
    for tag in tags(&page) {
        let name = tag.trim_start_matches('/').split(' ').next().unwrap().to_owned();
        if matches!(name.as_str(), "!DOCTYPE" | "meta" | "input") {
            continue;
        }
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else {
            open.push(name);
        }
    }
    assert_eq!(open, [""; 0]);
}

#[tokio::test]
async fn the_policy_lets_the_style_and_the_script_of_the_page_and_nothing_else() {
    let page = html::render(&kinds::report().await);
    let policy = between(&page, "Content-Security-Policy\" content=\"", "\"");
    let hash = |text: &str| format!("'sha256-{}'", BASE64.encode(&Sha256::digest(text)));
    let style = hash(between(&page, "<style>", "</style>"));
    let script = hash(between(&page, "<script>", "</script>"));
    let parts: Vec<_> = policy.split("; ").map(str::trim).collect();
    let expected = [
        "default-src 'none'".to_owned(),
        "base-uri 'none'".to_owned(),
        "form-action 'none'".to_owned(),
        format!("style-src {style}"),
        format!("script-src {script}"),
    ];
    assert_eq!(parts, expected);
    for word in [" src=", "<link", "@import", "url(", " style="] {
        let page = page.replace("&lt;img src=x", "");
        assert!(!page.contains(word), "{word} would load or be refused");
    }
}

#[tokio::test]
async fn a_link_of_the_page_leads_to_a_place_in_it_that_is_there_once() {
    let page = html::render(&kinds::report().await);
    let links = page.split("href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap());
    let mut count = 0;
    for place in links {
        assert_eq!(page.matches(&format!(" id=\"{place}\"")).count(), 1, "{place}");
        count += 1;
    }
    assert!(count > 4);
    assert!(page.contains("href=\"https://tracker.example/?a=1&amp;b=2\""));
}
