//! Calls as they are on the wire: any method, any header, any body, and the answer as it came,
//! without the SDK, which could hide a bug that it shares with a server.

mod call;
mod response;

use std::sync::Arc;

use http::Method;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

pub use self::call::Call;
pub use self::response::ApiResponse;
use crate::exchange;
use crate::failure::{Failure, Result};
use crate::ledger::{Ledger, Resource};
use crate::target::{Auth, Target};

/// Calls under one key.
#[derive(Clone)]
pub struct Wire {
    target: Arc<Target>,
    ledger: Arc<Ledger>,
    auth: Auth,
    contention: bool,
    /// Beside those of a call.
    headers: HeaderMap,
}

impl Wire {
    pub(crate) fn new(target: Arc<Target>, ledger: Arc<Ledger>, auth: Auth) -> Self {
        Self { target, ledger, auth, contention: false, headers: HeaderMap::new() }
    }

    /// The same for calls on one thing at the same moment. A server may answer 409 or 503 to
    /// those that it does not get to (S-59, S-76); they are sent again for a short time.
    #[must_use]
    pub fn under_contention(self) -> Self {
        Self { contention: true, ..self }
    }

    /// The same with a further header on each call.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.append(name, value);
        self
    }

    /// `GET` of a path below the base URL, query included.
    pub async fn get(&self, path: &str) -> Result<ApiResponse> {
        self.call(Method::GET, path).send().await
    }

    /// `POST` without a body.
    pub async fn post_empty(&self, path: &str) -> Result<ApiResponse> {
        self.call(Method::POST, path).send().await
    }

    /// `POST` of a JSON body.
    pub async fn post(&self, path: &str, body: Value) -> Result<ApiResponse> {
        self.call(Method::POST, path).json(&body).send().await
    }

    /// `POST` of a body as it is written, which is sent as JSON.
    pub async fn post_written(&self, path: &str, body: impl Into<Vec<u8>>) -> Result<ApiResponse> {
        self.call(Method::POST, path).body("application/json", body).send().await
    }

    /// `PATCH` with a JSON body.
    pub async fn patch(&self, path: &str, body: Value) -> Result<ApiResponse> {
        self.call(Method::PATCH, path).json(&body).send().await
    }

    /// `DELETE`.
    pub async fn delete(&self, path: &str) -> Result<ApiResponse> {
        self.call(Method::DELETE, path).send().await
    }

    /// Any call, to be finished with [`Call::send`].
    pub fn call(&self, method: Method, path: &str) -> Call {
        let url = format!("{}{path}", self.target.base_url());
        let call = Call::new(self.clone(), method, url, Some(path.to_owned()));
        self.headers.iter().fold(call, |call, (name, value)| call.header(name.as_str(), value))
    }

    pub(crate) fn key(&self) -> Result<Option<&str>> {
        let config = &self.target.config;
        let key = match self.auth {
            Auth::None => return Ok(None),
            Auth::Main => Some(&config.api_key),
            Auth::ReadOnly => config.read_only_api_key.as_ref(),
            Auth::Other => config.other_api_key.as_ref(),
            Auth::Revoked => config.revoked_api_key.as_ref(),
        };
        let got = "none was given; the scenario must name the need";
        key.map(|key| Some(&**key)).ok_or_else(|| Failure::error(<&str>::from(self.auth), got))
    }

    /// Whatever a scenario creates is tracked here, in the one place all calls pass, so that no
    /// scenario can forget it. Any status of success counts: a wrong one is for scenarios to find.
    fn track_created(&self, request: &exchange::Request, path: &str, reply: &ApiResponse) {
        if request.method != Method::POST || !reply.is_success() {
            return;
        }
        let path = path.split('?').next().unwrap_or(path);
        let id = || reply.integer("/data/id").ok();
        let text = |place| reply.string(place).map(str::to_owned).ok();
        let created = match path.trim_start_matches('/').split('/').collect::<Vec<_>>()[..] {
            ["prompts"] => id().map(Resource::Prompt),
            ["vaults"] => id().map(Resource::Vault),
            ["vaults", _, "fork"] => id().map(Resource::Fork),
            ["generations"] => text("/data/clientJobId").map(|id| {
                let body = request.body.as_deref().unwrap_or_default();
                let body: Value = serde_json::from_slice(body).unwrap_or_default();
                Resource::Job { id, vault: body["vaultId"].as_i64() }
            }),
            _ => None,
        };
        if let Some(created) = created {
            match created {
                Resource::Prompt(id) => self.target.note_id("POST /prompts", id),
                Resource::Vault(id) | Resource::Fork(id) => {
                    self.target.note_id("POST /vaults", id);
                }
                Resource::Job { .. } => {}
            }
            self.ledger.track(self.auth, created);
        }
    }
}
