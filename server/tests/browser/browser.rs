//! A browser as a person uses it: what is clicked, filled in and seen.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::site::Site;
use crate::webdriver::{Element, WebDriver};
use crate::{TIMEOUT, driver};

/// How often an element that is awaited is looked for.
const INTERVAL: Duration = Duration::from_millis(50);

/// A browser with a profile of its own.
pub(crate) struct Browser {
    /// After a failed test the browser ends with the driver of this process.
    pub(crate) driver: WebDriver,
    has_scripts: bool,
    /// What no page and no address may contain.
    secrets: Vec<String>,
}

impl Browser {
    pub(crate) async fn start() -> Self {
        Self::with_preferences(json!({}), true).await
    }

    pub(crate) async fn without_scripts() -> Self {
        let none = json!({ "profile.managed_default_content_settings.javascript": 2 });
        Self::with_preferences(none, false).await
    }

    async fn with_preferences(preferences: Value, has_scripts: bool) -> Self {
        let mut arguments = vec!["--headless=new", "--disable-dev-shm-usage"];
        if is_root() {
            arguments.push("--no-sandbox");
        }
        let options = json!({ "args": arguments, "prefs": preferences });
        let driver = WebDriver::start(driver::url(), options).await;
        Self { driver, has_scripts, secrets: Vec::new() }
    }

    /// From now on this must not be on a page or in an address.
    pub(crate) fn keep_secret(&mut self, secret: &str) {
        assert!(secret.len() > 8, "{secret:?} is too short to be looked for");
        self.secrets.push(secret.to_owned());
    }

    pub(crate) async fn open(&self, url: &str) {
        self.driver.goto(url).await;
    }

    /// The element of this XPath, as soon as there is one.
    pub(crate) async fn find(&self, xpath: &str) -> Element {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            if let Some(element) = self.driver.find_all(xpath).await.first() {
                return element.clone();
            }
            if Instant::now() > deadline {
                panic!("no {xpath}:\n{}", self.driver.source().await);
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// Clicks on the link or the button with this text.
    pub(crate) async fn click(&self, text: &str) {
        self.click_on(&format!("//*[self::a or self::button][normalize-space()='{text}']")).await;
    }

    /// Clicks on the element of this XPath, again if the page was loaded again meanwhile.
    pub(crate) async fn click_on(&self, xpath: &str) {
        let deadline = Instant::now() + TIMEOUT;
        while let Err(error) = self.find(xpath).await.click().await {
            assert!(Instant::now() < deadline, "{xpath}: {error}");
            tokio::time::sleep(INTERVAL).await;
        }
    }

    pub(crate) async fn fill(&self, name: &str, text: &str) {
        let field = format!("//*[self::input or self::textarea][@name='{name}']");
        self.find(&field).await.send_keys(text).await;
    }

    /// Fills in a field that has a value.
    pub(crate) async fn replace(&self, name: &str, text: &str) {
        // Control and A select all of it.
        self.fill(name, &format!("\u{e009}a\u{e000}{text}")).await;
    }

    /// Chooses the option with this text.
    pub(crate) async fn choose(&self, name: &str, text: &str) {
        let option = format!("//main//select[@name='{name}']/option[normalize-space()='{text}']");
        self.click_on(&option).await;
    }

    /// Waits for a page with this text, and looks whether it has a secret.
    pub(crate) async fn see(&mut self, text: &str) -> String {
        self.find(&format!("//body//*[contains(normalize-space(), '{text}')]")).await;
        for cookie in self.driver.cookies().await {
            if !self.secrets.contains(&cookie) {
                self.keep_secret(&cookie);
            }
        }
        self.check_source().await
    }

    /// The source of the page, which must not have a secret.
    pub(crate) async fn check_source(&self) -> String {
        let source = self.driver.source().await;
        self.check("the page", &source);
        source
    }

    fn check(&self, place: &str, text: &str) {
        let found = self.secrets.iter().find(|secret| text.contains(*secret));
        assert_eq!(found, None, "in {place}:\n{text}");
    }

    /// Signs in with a new link.
    pub(crate) async fn sign_in(&mut self, site: &Site) {
        if self.has_scripts {
            let (link, code) = site.sign_in_link().await;
            self.keep_secret(&code);
            self.open(&link).await;
            self.click("Sign in").await;
        } else {
            // Nothing would remove the code from the address.
            self.open(&site.page("sign-in")).await;
            self.enter_code(site).await;
        }
        self.see(crate::site::ACCOUNT).await;
    }

    /// Signs in on the page with the form; gives the code.
    pub(crate) async fn enter_code(&mut self, site: &Site) -> String {
        let (_, code) = site.sign_in_link().await;
        self.keep_secret(&code);
        self.fill("code", &code).await;
        self.click("Sign in").await;
        code
    }

    /// The width of the first picture, as soon as it is drawn.
    pub(crate) async fn picture_width(&self) -> Value {
        let picture = self.find("//main//img").await;
        let loaded = "const picture = arguments[0], done = arguments[1];
            picture.loading = 'eager';
            picture.decode().then(() => done(picture.naturalWidth), error => done(String(error)))";
        self.driver.execute_async(loaded, vec![picture.reference]).await
    }

    /// Ends the browser and looks for secrets in the addresses it visited: its history, and the
    /// lines of requests that name an address.
    pub(crate) async fn end(self, site: &Site) {
        let history = self.driver.devtools("Page.getNavigationHistory", json!({})).await;
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
        self.driver.quit().await;
    }
}

/// Chromium's sandbox does not run as root.
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}
