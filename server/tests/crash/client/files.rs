//! Generations and uploads.

use rand::seq::IndexedRandom;
use rand::{Rng, RngExt};
use serde_json::json;

use super::choose::post;
use super::{Account, Client, Job, Upload, served};
use crate::state::{Effect, Image, NEW, Prompt};
use crate::support::http::{Outcome, Request};
use crate::support::program::PUBLIC_URL;

const UPLOAD_MAX: usize = 40_000;

impl Client {
    pub(super) async fn generate(&mut self, account: &mut Account) {
        if self.jobs_left == 0 {
            return;
        }
        self.jobs_left -= 1;
        let (name, vault) = (account.name("job"), account.jobs_vault);
        let (text, count) = (format!("A harbour at dawn, {name}"), self.rng.random_range(1..3));
        let model = ["local/slow", "local/plasma"].choose(&mut self.rng).unwrap();
        let body = json!({
            "clientJobId": name,
            "modelId": model,
            "prompt": text,
            "parameters": { "seconds": self.rng.random_range(0.2..2.0) },
            "batchCount": count,
            "vaultId": vault,
        });
        let prompt = Prompt { title: text.clone(), text, images: vec![Image::default(); count] };
        let effects =
            vec![Effect::Prompt(NEW, Some(prompt)), Effect::Member(vault, NEW, Some(false))];
        let data = self.write(account, post("/generations", body.clone(), effects)).await;
        if data.is_some() || account.unknown.is_some() {
            let request_id = data.and_then(|data| Some(data["providerRequestId"].as_str()?.into()));
            account.jobs.insert(name, Job { body, request_id, prompt: None });
        }
    }

    /// Sends a generation again, which must be the same job.
    pub(super) async fn repeat_generation(&mut self, account: &mut Account) {
        let known: Vec<_> = account.jobs.values().filter(|job| job.request_id.is_some()).collect();
        let Some(job) = known.choose(&mut self.rng) else { return };
        let (request, first) =
            (Request::post("/generations", job.body.clone()), job.request_id.clone());
        if let Outcome::Response(response) = self.call(account, &request).await {
            let data = response.data();
            if response.status != 202 || data["providerRequestId"].as_str() != first.as_deref() {
                account.fault(format!("{request:?} after {first:?}: {}", response.summary()));
            }
        }
    }

    pub(super) async fn upload(&mut self, account: &mut Account) {
        let mut bytes = vec![0; self.rng.random_range(1..UPLOAD_MAX)];
        self.rng.fill_bytes(&mut bytes);
        let body = json!({ "contentType": "image/png", "size": bytes.len() });
        let outcome = self.call(account, &Request::post("/uploads/images", body)).await;
        // A slot without a response is of no use and harms nothing.
        let Outcome::Response(response) = outcome else { return };
        let slot = response.data();
        let field = |name: &str| slot[name].as_str();
        let (Some(url), Some(target), Some(token)) =
            (field("url"), field("uploadUrl"), field("token"))
        else {
            return account.fault(format!("POST /uploads/images: {}", response.summary()));
        };
        let server = self.addresses.choose(&mut self.rng).unwrap();
        let path = target.strip_prefix(PUBLIC_URL).unwrap_or_default();
        let put = self.http.put(server, path, token, &bytes).await;
        let acknowledged = match served(account, put).await {
            Outcome::Response(response) if response.status == 200 => true,
            Outcome::Response(response) => {
                return account.fault(format!("PUT {target}: {}", response.summary()));
            }
            Outcome::NotSent => return,
            Outcome::Unknown => false,
        };
        account.count("uploaded");
        account.uploads.push(Upload { url: url.to_owned(), bytes, acknowledged });
    }
}
