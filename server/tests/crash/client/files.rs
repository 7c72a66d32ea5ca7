//! Generations and uploads.

use rand::seq::{IndexedRandom, IteratorRandom};
use rand::{Rng, RngExt};
use serde_json::json;

use super::{Account, Client, Job, Role, Upload};
use crate::state::NEW;
use crate::support::client::Slot;
use crate::support::http::{Outcome, json_request};
use crate::support::program::PUBLIC_URL;

const UPLOAD_MAX: usize = 40_000;
/// Generations that were acknowledged, among the counts.
pub(crate) const ACCEPTED: &str = "accepted";

impl Client {
    pub(super) async fn generate(&mut self, account: &mut Account) {
        if self.jobs_left == 0 {
            return;
        }
        self.jobs_left -= 1;
        let (name, vault) = (account.name("job"), account.jobs_vault);
        let text = format!("A harbour at dawn, {name}");
        let (model, count) = match self.role {
            Role::Generator => ("local/slow", 1),
            _ => (
                *["local/slow", "local/plasma"].choose(&mut self.rng).unwrap(),
                self.rng.random_range(1..3),
            ),
        };
        let body = json!({
            "clientJobId": name,
            "modelId": model,
            "prompt": text,
            "parameters": { "seconds": self.rng.random_range(0.2..2.0) },
            "batchCount": count,
            "vaultId": vault,
        });
        let effects =
            [((0, NEW), Some(json!([text, text, count]))), ((vault, NEW), Some(json!(false)))];
        let write = account.request("POST", "/generations", body.clone(), effects);
        let data = self.write(account, write).await;
        if data.is_some() {
            self.count(ACCEPTED);
        }
        if data.is_some() || account.unknown.is_some() {
            let request_id = data.and_then(|data| Some(data["providerRequestId"].as_str()?.into()));
            account.jobs.insert(name, Job { body, request_id, prompt: None });
        }
    }

    /// Sends a generation again, which must be the same job.
    pub(super) async fn repeat_generation(&mut self, account: &mut Account) {
        let known = account.jobs.values().filter(|job| job.request_id.is_some());
        let Some(job) = known.choose(&mut self.rng) else { return };
        let (body, first) = (job.body.clone(), job.request_id.clone());
        let request = json_request(&account.key, "POST", "/generations", body);
        if let Outcome::Response(response) = self.send(account, &request).await {
            let data = response.data();
            if response.status != 202 || data["providerRequestId"].as_str() != first.as_deref() {
                account.fault(format!("{request} after {first:?}: {}", response.summary()));
            }
        }
    }

    pub(super) async fn upload(&mut self, account: &mut Account) {
        let mut bytes = vec![0; self.rng.random_range(1..UPLOAD_MAX)];
        self.rng.fill_bytes(&mut bytes);
        let body = json!({ "contentType": "image/png", "size": bytes.len() });
        let request = json_request(&account.key, "POST", "/uploads/images", body);
        // A slot without a response is of no use and harms nothing.
        let Outcome::Response(response) = self.send(account, request).await else { return };
        let slot = Slot::parse(&response, PUBLIC_URL);
        let acknowledged = match self.send(account, slot.put_request(&bytes)).await {
            Outcome::Response(response) if response.status == 200 => true,
            Outcome::Response(response) => {
                return account.fault(format!("PUT {}: {}", slot.path, response.summary()));
            }
            Outcome::NotSent => return,
            Outcome::Unknown => false,
        };
        self.count("uploaded");
        account.uploads.push(Upload { path: slot.path, bytes, acknowledged });
    }
}
