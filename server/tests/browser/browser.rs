//! A browser as a person uses it: what is clicked, filled in and seen.

use std::mem::ManuallyDrop;
use std::time::Duration;

use serde_json::{Value, json};
use thirtyfour::prelude::*;

use crate::site::Site;
use crate::{TIMEOUT, driver};

/// How often an element that is awaited is looked for.
const INTERVAL: Duration = Duration::from_millis(50);

/// A browser with a profile of its own.
pub(crate) struct Browser {
    /// Not dropped: after a failed test that would wait for the browser, which ends with the
    /// driver of this process in any case.
    pub(crate) driver: ManuallyDrop<WebDriver>,
    /// What no page and no address may contain.
    secrets: Vec<String>,
}

impl Browser {
    pub(crate) async fn start() -> Self {
        Self::with_preferences(json!({})).await
    }

    pub(crate) async fn without_scripts() -> Self {
        Self::with_preferences(json!({ "profile.managed_default_content_settings.javascript": 2 }))
            .await
    }

    async fn with_preferences(preferences: Value) -> Self {
        let mut wanted = DesiredCapabilities::chrome();
        wanted.add_arg("--headless=new").unwrap();
        if is_root() {
            wanted.add_arg("--no-sandbox").unwrap();
        }
        wanted.add_arg("--disable-dev-shm-usage").unwrap();
        wanted.add_experimental_option("prefs", preferences).unwrap();
        let driver = WebDriver::new(driver::url(), wanted).await.unwrap();
        Self { driver: ManuallyDrop::new(driver), secrets: Vec::new() }
    }

    /// From now on this must not be on a page or in an address.
    pub(crate) fn keep_secret(&mut self, secret: &str) {
        assert!(secret.len() > 8, "{secret:?} is too short to be looked for");
        self.secrets.push(secret.to_owned());
    }

    pub(crate) async fn open(&self, url: &str) {
        self.driver.goto(url).await.unwrap();
    }

    /// The element of this XPath, as soon as there is one.
    pub(crate) async fn find(&self, xpath: &str) -> WebElement {
        let query = self.driver.query(By::XPath(xpath)).wait(TIMEOUT, INTERVAL);
        match query.first().await {
            Ok(element) => element,
            Err(error) => panic!("no {xpath}: {error}\n{}", self.driver.source().await.unwrap()),
        }
    }

    /// Clicks on the link or the button with this text.
    pub(crate) async fn click(&self, text: &str) {
        let element = format!("//*[self::a or self::button][normalize-space()='{text}']");
        self.find(&element).await.click().await.unwrap();
    }

    pub(crate) async fn fill(&self, name: &str, text: &str) {
        let field = format!("//*[self::input or self::textarea][@name='{name}']");
        self.find(&field).await.send_keys(text).await.unwrap();
    }

    /// Waits for a page with this text, and looks whether it has a secret.
    pub(crate) async fn see(&mut self, text: &str) -> String {
        self.find(&format!("//body//*[contains(normalize-space(), '{text}')]")).await;
        for cookie in self.driver.get_all_cookies().await.unwrap() {
            if !self.secrets.contains(&cookie.value) {
                self.keep_secret(&cookie.value);
            }
        }
        self.check_source().await
    }

    /// The source of the page, which must not have a secret.
    pub(crate) async fn check_source(&self) -> String {
        let source = self.driver.source().await.unwrap();
        self.check("the page", &source);
        source
    }

    fn check(&self, place: &str, text: &str) {
        let found = self.secrets.iter().find(|secret| text.contains(*secret));
        assert_eq!(found, None, "in {place}:\n{text}");
    }

    /// Signs in with a new link and gives its code.
    pub(crate) async fn sign_in(&mut self, site: &Site) -> String {
        let (link, code) = site.sign_in_link().await;
        self.open(&link).await;
        self.keep_secret(&code);
        self.click("Sign in").await;
        self.see(crate::site::ACCOUNT).await;
        code
    }

    /// A command of the DevTools protocol.
    pub(crate) async fn devtools(&self, command: &str, parameters: Value) -> Value {
        self.driver.cdp().send_raw(command, parameters).await.unwrap()
    }

    /// Ends the browser and looks for secrets in the addresses it visited: its history, and the
    /// lines of requests that name an address.
    pub(crate) async fn end(self, site: &Site) {
        let history = self.devtools("Page.getNavigationHistory", json!({})).await;
        for entry in history["entries"].as_array().unwrap() {
            self.check("the history", entry["url"].as_str().unwrap());
        }
        let heads = site.proxy.heads();
        assert!(!heads.is_empty(), "the browser asked for nothing");
        for head in heads {
            let mut lines = head.lines();
            self.check("a request", lines.next().unwrap());
            for line in lines.filter(|line| line.to_ascii_lowercase().starts_with("referer:")) {
                self.check("a request", line);
            }
        }
        ManuallyDrop::into_inner(self.driver).quit().await.unwrap();
    }
}

/// Chromium's sandbox does not run as root.
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}
