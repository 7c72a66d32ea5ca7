//! A browser as a person uses it: what is clicked, filled in and seen.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use crate::site::{ACCOUNT, Site};
use crate::{TIMEOUT, chromium};

/// How often an element that is awaited is looked for.
const INTERVAL: Duration = Duration::from_millis(20);

/// The middle of an element, unless another one is above it.
const PLACE: &str = "e => {
    e.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    const box = e.getClientRects()[0];
    if (!box) return null;
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    return e.contains(document.elementFromPoint(x, y)) ? [x, y] : null;
}";

/// A page in a profile of its own, which sees a site.
pub(crate) struct Browser {
    pub(crate) site: std::sync::Arc<Site>,
    context: Value,
    session: String,
    loads: watch::Receiver<usize>,
    pub(crate) has_scripts: bool,
    /// What no page and no address may contain.
    secrets: Vec<String>,
}

impl Browser {
    pub(crate) async fn in_memory() -> Self {
        Self::new(Site::start(false).await.into(), true).await
    }

    pub(crate) async fn without_scripts() -> Self {
        Self::new(Site::start(false).await.into(), false).await
    }

    pub(crate) async fn on_postgres() -> Self {
        Self::new(Site::start(true).await.into(), true).await
    }

    /// Another browser at the same site.
    pub(crate) async fn other(&self) -> Self {
        Self::new(self.site.clone(), true).await
    }

    async fn new(site: std::sync::Arc<Site>, has_scripts: bool) -> Self {
        let (context, session, loads) = chromium::open().await;
        let browser = Self { site, context, session, loads, has_scripts, secrets: Vec::new() };
        browser.devtools("Page.enable", json!({})).await;
        browser.devtools("Emulation.setFocusEmulationEnabled", json!({ "enabled": true })).await;
        let no_scripts = json!({ "value": !has_scripts });
        browser.devtools("Emulation.setScriptExecutionDisabled", no_scripts).await;
        browser
    }

    /// A command of the DevTools protocol.
    pub(crate) async fn devtools(&self, method: &str, params: Value) -> Value {
        let answer = chromium::call(&self.session, method, params).await;
        answer.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Lets the pages of this profile do what a person would be asked for.
    pub(crate) async fn grant(&self, permissions: &[&str]) {
        let params = json!({ "permissions": permissions, "browserContextId": self.context });
        chromium::call("", "Browser.grantPermissions", params).await.unwrap();
    }

    /// The value of an expression, or of its promise. `None` while a page is loaded.
    async fn try_execute(&self, expression: &str) -> Option<Value> {
        let params = json!({ "expression": expression, "returnByValue": true,
            "awaitPromise": self.has_scripts });
        let mut answer = chromium::call(&self.session, "Runtime.evaluate", params).await.ok()?;
        let failure = &answer["exceptionDetails"];
        assert!(failure.is_null(), "{failure} in {expression:.300}");
        Some(answer["result"]["value"].take())
    }

    pub(crate) async fn execute(&self, expression: &str) -> Value {
        self.try_execute(expression).await.expect("a page that stays")
    }

    /// Repeats a function on the first element of this XPath until it gives something.
    pub(crate) async fn on(&self, xpath: &str, function: &str) -> Value {
        let path = Value::from(xpath);
        let call = format!(
            "{{ const e = document.evaluate({path}, document, null, 9, null)
            .singleNodeValue; e && ({function})(e) }}"
        );
        let deadline = Instant::now() + TIMEOUT;
        loop {
            match self.try_execute(&call).await {
                Some(Value::Null) | None => sleep(INTERVAL).await,
                Some(value) => return value,
            }
            assert!(Instant::now() < deadline, "no {xpath}:\n{}", self.source().await);
        }
    }

    /// Waits for an element.
    pub(crate) async fn find(&self, xpath: &str) {
        self.on(xpath, "_ => true").await;
    }

    /// Waits until an expression has this value.
    pub(crate) async fn until(&self, expression: &str, expected: impl Into<Value>) {
        let (deadline, expected) = (Instant::now() + TIMEOUT, expected.into());
        loop {
            let value = self.try_execute(expression).await;
            if value.as_ref() == Some(&expected) {
                return;
            }
            assert!(Instant::now() < deadline, "{expression} is {value:?} and not {expected}");
            sleep(INTERVAL).await;
        }
    }

    pub(crate) async fn count(&self, xpath: &str) -> Value {
        let path = Value::from(format!("count({xpath})"));
        self.execute(&format!("document.evaluate({path}, document).numberValue")).await
    }

    pub(crate) async fn text(&self, xpath: &str) -> String {
        self.on(xpath, "e => e.innerText").await.as_str().unwrap().to_owned()
    }

    /// What is in a field.
    pub(crate) async fn value(&self, name: &str) -> Value {
        self.on(&format!("//main//*[@name='{name}']"), "e => e.value").await
    }

    /// Does something, and waits until that has loaded another page.
    async fn loading<T>(&self, work: impl Future<Output = T>) -> T {
        let mut loads = self.loads.clone();
        loads.mark_unchanged();
        let done = work.await;
        if timeout(TIMEOUT, loads.changed()).await.is_err() {
            panic!("no other page:\n{}", self.source().await);
        }
        done
    }

    pub(crate) async fn open(&self, page: &str) {
        let url = if page.starts_with("http") { page.to_owned() } else { self.site.page(page) };
        self.loading(self.devtools("Page.navigate", json!({ "url": url }))).await;
    }

    pub(crate) async fn back(&self) {
        // The answer may be lost with the page.
        self.loading(self.try_execute("history.back()")).await;
    }

    pub(crate) async fn refresh(&self) {
        self.loading(self.devtools("Page.reload", json!({}))).await;
    }

    /// Clicks on the link or the button with this text, which leads to another page.
    pub(crate) async fn click(&self, text: &str) {
        self.loading(self.press(text)).await;
    }

    /// Clicks on the link or the button with this text, which does something on the page.
    pub(crate) async fn press(&self, text: &str) {
        self.press_on(&format!("//*[self::a or self::button][normalize-space()='{text}']")).await;
    }

    /// Clicks on the element of this XPath.
    pub(crate) async fn press_on(&self, xpath: &str) {
        let place = self.on(xpath, PLACE).await;
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": place[0], "y": place[1], "button": "left",
                "clickCount": 1 });
            self.devtools("Input.dispatchMouseEvent", event).await;
        }
    }

    /// Fills in these fields, clicks on the link or the button with this text, and waits for a page
    /// with another text.
    pub(crate) async fn send(&mut self, fields: &[(&str, &str)], button: &str, answer: &str) {
        for (name, text) in fields {
            let field = format!("//*[self::input or self::textarea][@name='{name}']");
            // Another text than the choices is behind a line that opens it.
            let focus = "e => { const line = e.closest('details'); if (line) line.open = true;
                e.focus(); e.select(); return true; }";
            self.on(&field, focus).await;
            self.devtools("Input.insertText", json!({ "text": text })).await;
        }
        self.click(button).await;
        self.see(answer).await;
    }

    /// Chooses a file in the field `file`.
    pub(crate) async fn choose_file(&self, file: &std::path::Path) {
        self.find("//input[@name='file']").await;
        let field = json!({ "expression": "document.querySelector('input[name=file]')" });
        let field = self.devtools("Runtime.evaluate", field).await;
        let chosen = json!({ "files": [file], "objectId": field["result"]["objectId"] });
        self.devtools("DOM.setFileInputFiles", chosen).await;
    }

    /// Chooses the option with this text in the first field of the name.
    pub(crate) async fn choose(&self, name: &str, text: &str) {
        self.choose_in("//main", name, text).await;
    }

    pub(crate) async fn choose_in(&self, xpath: &str, name: &str, text: &str) {
        let option = format!("{xpath}//select[@name='{name}']/option[normalize-space()='{text}']");
        let select = "e => { e.selected = true; e.parentElement.dispatchEvent(new Event('change'));
            return true; }";
        self.on(&option, select).await;
    }

    /// Presses a key.
    pub(crate) async fn key(&self, key: &str) {
        let text = if key == "Tab" { "" } else { key };
        let code = if key == "Tab" { 9 } else { 0 };
        for kind in ["keyDown", "keyUp"] {
            let event = json!({ "type": kind, "key": key, "text": text,
                "windowsVirtualKeyCode": code });
            self.devtools("Input.dispatchKeyEvent", event).await;
        }
    }

    pub(crate) async fn url(&self) -> Value {
        self.execute("location.href").await
    }

    async fn source(&self) -> String {
        let source = self.try_execute("document.documentElement.outerHTML").await;
        source.and_then(|source| Some(source.as_str()?.to_owned())).unwrap_or_default()
    }

    /// From now on this must not be on a page or in an address.
    pub(crate) fn keep_secret(&mut self, secret: &str) {
        assert!(secret.len() > 8, "{secret:?} is too short to be looked for");
        self.secrets.push(secret.to_owned());
    }

    /// Waits for a page with this text, and looks whether it has a secret.
    pub(crate) async fn see(&mut self, text: &str) -> String {
        self.find(&format!("//body//*[contains(normalize-space(), '{text}')]")).await;
        let cookies = self.devtools("Network.getCookies", json!({})).await;
        for cookie in cookies["cookies"].as_array().unwrap() {
            self.keep_secret(cookie["value"].as_str().unwrap());
        }
        self.check_source().await
    }

    /// The source of the page, which must not have a secret.
    pub(crate) async fn check_source(&self) -> String {
        let source = self.source().await;
        self.check("the page", &source);
        source
    }

    fn check(&self, place: &str, text: &str) {
        let found = self.secrets.iter().find(|secret| text.contains(*secret));
        assert_eq!(found, None, "in {place}:\n{text}");
    }

    /// Signs in with a new link, or without scripts with its code, as nothing would remove that from
    /// the address.
    pub(crate) async fn sign_in(&mut self) {
        if self.has_scripts {
            let (link, code) = self.site.sign_in_link().await;
            self.keep_secret(&code);
            self.open(&link).await;
            self.send(&[], "Sign in", ACCOUNT).await;
        } else {
            self.open("sign-in").await;
            self.enter_code().await;
        }
    }

    /// Signs in on the page with the form; gives the code.
    pub(crate) async fn enter_code(&mut self) -> String {
        let (_, code) = self.site.sign_in_link().await;
        self.keep_secret(&code);
        self.send(&[("code", &code)], "Sign in", ACCOUNT).await;
        code
    }

    /// The width of the first picture, as soon as it is drawn.
    pub(crate) async fn picture_width(&self) -> Value {
        let loaded = "e => { e.loading = 'eager'; return e.decode().then(() => e.naturalWidth) }";
        self.on("//main//img", loaded).await
    }

    /// Ends the browser and looks for secrets in the addresses of the pages that it has visited.
    pub(crate) async fn end(self) {
        let history = self.devtools("Page.getNavigationHistory", json!({})).await;
        for entry in history["entries"].as_array().unwrap() {
            self.check("the history", entry["url"].as_str().unwrap());
        }
        chromium::close(self.context).await;
    }
}
