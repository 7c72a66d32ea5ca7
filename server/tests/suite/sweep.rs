//! Requests to every operation that scenarios send to some of them only: without a
//! key, with bodies that nobody takes, with another method; and what the server says
//! of itself.

use http::header::{AUTHORIZATION, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, Method};
use serde_json::{Value, json};

use crate::description::Description;
use crate::keys::MAIN;
use crate::parts::NotStarted;

/// One byte more than a JSON body may have (S-67).
const TOO_LARGE: usize = 4 * 1024 * 1024 + 1;

/// Scenarios run at the same time, and what they have made must stay.
const UNUSED_ID: &str = "9007199254740991";

/// Sends them all to a service that looks at its answers itself.
pub(crate) async fn sweep(base_url: &str, description: &Description) -> Result<(), NotStarted> {
    let root = base_url.strip_suffix("/api/v1").unwrap_or(base_url);
    let client = Client { http: reqwest::Client::builder().no_proxy().build()?, root };
    for place in &description.operations {
        let ids = ["{promptId}", "{vaultId}", "{vaultPromptId}", "{webhookId}"];
        let path = ids.iter().fold(place.template.clone(), |path, id| path.replace(id, UNUSED_ID));
        let path = path.replace("{clientJobId}", "unused");
        let path = path.replace("{name}", "0123456789abcdefghijklmno0.png");
        let none = HeaderMap::new();
        client.send(&place.method, &path, none.clone(), Vec::new()).await?;
        client.send(&Method::TRACE, &path, none, Vec::new()).await?;
        client.send(&place.method, &path, with_key("text/plain"), b"{}".to_vec()).await?;
        if place.takes_json {
            let body = vec![b' '; TOO_LARGE];
            client.send(&place.method, &path, with_key("application/json"), body).await?;
        }
    }
    what_is_kept(&client).await
}

/// Asks for the document and for a file, and then whether they have changed.
async fn what_is_kept(client: &Client<'_>) -> Result<(), NotStarted> {
    let body = json!({ "contentType": "image/png", "size": 1 }).to_string().into_bytes();
    let json = with_key("application/json");
    let slot = client.send(&Method::POST, "/api/v1/uploads/images", json, body).await?;
    let slot: Value = serde_json::from_slice(&slot.bytes().await?)?;
    let text = |name: &str| slot["data"][name].as_str().unwrap_or_default().to_owned();
    let put = client.http.put(text("uploadUrl")).bearer_auth(text("token"));
    put.header(CONTENT_TYPE, "image/png").body("a").send().await?;

    let asset = text("url");
    let path = asset.strip_prefix(client.root).unwrap_or_default().to_owned();
    for (method, path) in [
        (Method::GET, "/api/v1/openapi.json"),
        (Method::GET, path.as_str()),
        (Method::HEAD, path.as_str()),
    ] {
        let first = client.send(&method, path, HeaderMap::new(), Vec::new()).await?;
        let tag = first.headers().get(ETAG).cloned().ok_or("there is no tag")?;
        let has_it = HeaderMap::from_iter([(IF_NONE_MATCH, tag)]);
        client.send(&method, path, has_it, Vec::new()).await?;
    }
    Ok(())
}

fn with_key(content_type: &'static str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    if let Ok(key) = HeaderValue::from_str(&format!("Bearer {MAIN}")) {
        headers.insert(AUTHORIZATION, key);
    }
    headers
}

struct Client<'a> {
    http: reqwest::Client,
    root: &'a str,
}

impl Client<'_> {
    async fn send(
        &self,
        method: &Method,
        path: &str,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<reqwest::Response, NotStarted> {
        let request = self.http.request(method.clone(), format!("{}{path}", self.root));
        Ok(request.headers(headers).body(body).send().await?)
    }
}
