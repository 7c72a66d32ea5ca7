//! Requests as a browser sends them: forms and cookies.

use promptarium_server::EmbeddedServer;

use super::client::{Connection, Response};

pub(crate) const OWN: &str = "sec-fetch-site: same-origin\r\n";
pub(crate) const FORM: &str = "content-type: application/x-www-form-urlencoded\r\n";
pub(crate) const JSON: &str = "content-type: application/json\r\n";

/// A request as bytes; each header ends in CR LF.
pub(crate) fn request(method: &str, path: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nhost: test\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    )
}

/// Sends one request on a connection of its own.
pub(crate) async fn send(server: &EmbeddedServer, request: &str) -> Response {
    let mut connection = Connection::open(&server.local_addr().to_string()).await;
    connection.send(request).await;
    connection.response().await.unwrap()
}

/// The code in a new sign-in link.
pub(crate) async fn code(server: &EmbeddedServer) -> String {
    let link = server.sign_in_url().await.unwrap();
    link.split_once("/sign-in#").unwrap().1.to_owned()
}

/// The request that signs in with this code.
pub(crate) fn sign_in_request(code: &str, headers: &str) -> String {
    let headers = format!("{FORM}{OWN}{headers}");
    request("POST", "/sign-in", &headers, &format!("code={code}"))
}

/// The cookie that a response sets, as `name=value`.
pub(crate) fn cookie_of(response: &Response) -> String {
    let cookie = response.header("set-cookie").unwrap_or_else(|| panic!("{response:?}"));
    cookie.split(';').next().unwrap().to_owned()
}

/// Signs in, and gives the header with the cookie of the session.
pub(crate) async fn sign_in(server: &EmbeddedServer) -> String {
    let response = send(server, &sign_in_request(&code(server).await, "")).await;
    assert_eq!(response.status, 303, "{response:?}");
    format!("cookie: {}\r\n", cookie_of(&response))
}

/// Creates a key; gives the record with the key.
pub(crate) async fn create_key(
    server: &EmbeddedServer,
    cookie: &str,
    name: &str,
) -> serde_json::Value {
    let body = serde_json::json!({ "name": name, "scopes": ["prompts:write"] }).to_string();
    let headers = format!("{JSON}{OWN}{cookie}");
    let response = send(server, &request("POST", "/api/v1/api-keys", &headers, &body)).await;
    assert_eq!(response.status, 201, "{response:?}");
    assert_eq!(response.header("cache-control"), Some("no-store"));
    response.json()["data"].clone()
}

/// The keys of the account, as the list shows them.
pub(crate) async fn keys(server: &EmbeddedServer, cookie: &str) -> serde_json::Value {
    let response = send(server, &request("GET", "/api/v1/api-keys", cookie, "")).await;
    assert_eq!(response.status, 200, "{response:?}");
    response.json()["data"].clone()
}
