//! The commands of WebDriver that the tests use. A failed command is a panic, unless it says
//! otherwise.

use reqwest::{Client, Method};
use serde_json::{Value, json};

/// A browser, by the address of its session.
#[derive(Clone)]
pub(crate) struct WebDriver {
    http: Client,
    session: String,
}

/// An element of the page, as the driver names it.
#[derive(Clone)]
pub(crate) struct Element {
    driver: WebDriver,
    pub(crate) reference: Value,
}

impl WebDriver {
    /// Starts a browser. `driver` is the address of chromedriver.
    pub(crate) async fn start(driver: &str, options: Value) -> Self {
        let http = Client::new();
        let starting = Self { http: http.clone(), session: format!("{driver}/session") };
        let wanted = json!({ "browserName": "chrome", "goog:chromeOptions": options });
        let body = json!({ "capabilities": { "alwaysMatch": wanted } });
        let session = starting.call(Method::POST, "", body).await;
        let id = session["sessionId"].as_str().unwrap();
        Self { http, session: format!("{driver}/session/{id}") }
    }

    async fn call(&self, method: Method, path: &str, body: Value) -> Value {
        self.try_call(method, path, body).await.unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    async fn try_call(&self, method: Method, path: &str, body: Value) -> Result<Value, String> {
        let request = self.http.request(method.clone(), format!("{}{path}", self.session));
        let request = if method == Method::POST { request.json(&body) } else { request };
        let mut answer: Value = request.send().await.unwrap().json().await.unwrap();
        let value = answer["value"].take();
        match value["error"].as_str() {
            Some(error) => Err(format!("{error}: {}", value["message"])),
            None => Ok(value),
        }
    }

    async fn get(&self, path: &str) -> Value {
        self.call(Method::GET, path, Value::Null).await
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        self.call(Method::POST, path, body).await
    }

    pub(crate) async fn goto(&self, url: &str) {
        self.post("/url", json!({ "url": url })).await;
    }

    pub(crate) async fn current_url(&self) -> String {
        text(&self.get("/url").await)
    }

    pub(crate) async fn source(&self) -> String {
        text(&self.get("/source").await)
    }

    pub(crate) async fn back(&self) {
        self.post("/back", json!({})).await;
    }

    pub(crate) async fn refresh(&self) {
        self.post("/refresh", json!({})).await;
    }

    /// The values of the cookies of the page.
    pub(crate) async fn cookies(&self) -> Vec<String> {
        let cookies = self.get("/cookie").await;
        cookies.as_array().unwrap().iter().map(|cookie| text(&cookie["value"])).collect()
    }

    pub(crate) async fn delete_cookies(&self) {
        self.call(Method::DELETE, "/cookie", Value::Null).await;
    }

    /// All elements of this XPath.
    pub(crate) async fn find_all(&self, xpath: &str) -> Vec<Element> {
        let found = self.post("/elements", json!({ "using": "xpath", "value": xpath })).await;
        let element =
            |reference: &Value| Element { driver: self.clone(), reference: reference.clone() };
        found.as_array().unwrap().iter().map(element).collect()
    }

    /// Runs the body of a function and gives what it returns.
    pub(crate) async fn execute(&self, script: &str) -> Value {
        self.post("/execute/sync", json!({ "script": script, "args": [] })).await
    }

    /// Runs the body of a function and gives what it calls its last argument with.
    pub(crate) async fn execute_async(&self, script: &str, arguments: Vec<Value>) -> Value {
        self.post("/execute/async", json!({ "script": script, "args": arguments })).await
    }

    pub(crate) async fn press_tab(&self) {
        self.press("\u{e004}").await;
    }

    /// Presses a key.
    pub(crate) async fn press(&self, key: &str) {
        let key = |kind| json!({ "type": kind, "value": key });
        let actions = json!([key("keyDown"), key("keyUp")]);
        let keyboard = json!({ "type": "key", "id": "keyboard", "actions": actions });
        self.post("/actions", json!({ "actions": [keyboard] })).await;
    }

    /// A command of the DevTools protocol.
    pub(crate) async fn devtools(&self, command: &str, parameters: Value) -> Value {
        self.post("/goog/cdp/execute", json!({ "cmd": command, "params": parameters })).await
    }

    pub(crate) async fn quit(&self) {
        self.call(Method::DELETE, "", Value::Null).await;
    }
}

impl Element {
    fn path(&self, command: &str) -> String {
        let id = self.reference.as_object().unwrap().values().next().unwrap();
        format!("/element/{}/{command}", id.as_str().unwrap())
    }

    /// Fails if the page has gone meanwhile.
    pub(crate) async fn click(&self) -> Result<(), String> {
        self.driver.try_call(Method::POST, &self.path("click"), json!({})).await.map(drop)
    }

    pub(crate) async fn send_keys(&self, keys: &str) {
        self.driver.post(&self.path("value"), json!({ "text": keys })).await;
    }

    pub(crate) async fn text(&self) -> String {
        text(&self.driver.get(&self.path("text")).await)
    }

    pub(crate) async fn property(&self, name: &str) -> String {
        text(&self.driver.get(&self.path(&format!("property/{name}"))).await)
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}
