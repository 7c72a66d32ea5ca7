//! Generations.

use http::Method;
use rand::RngExt;
use serde_json::{Value, json};

use super::Client;
use crate::account::Job;
use crate::http::Got;

const PATH: &str = "/generations";

impl Client {
    pub(super) async fn generate(&mut self) {
        let name = self.account.name("job");
        let slow = self.rng.random_bool(0.5);
        let body = json!({
            "clientJobId": name,
            "modelId": if slow { "local/slow" } else { "local/plasma" },
            "prompt": format!("A harbour at dawn, {name}"),
            "parameters": { "seconds": self.rng.random_range(0.2..2.0) },
            "batchCount": self.rng.random_range(1..3),
            "vaultId": self.account.jobs_vault,
        });
        if let Some(accepted) = self.order(&body).await {
            self.account.jobs.insert(name, Job { body, accepted, prompt: None });
        }
    }

    /// The same order again is the same job, whatever became of it.
    pub(super) async fn generate_again(&mut self, name: &str) {
        let body = self.account.jobs[name].body.clone();
        let again = self.order(&body).await.flatten();
        let first = self.account.jobs[name].accepted.clone();
        if again.is_some() && again != first {
            self.account.wrong(format!("{name} was handed over twice: {first:?}, {again:?}"));
        }
    }

    /// The provider's name for the job, if it was accepted; `None` if it was not
    /// asked for.
    async fn order(&mut self, body: &Value) -> Option<Option<String>> {
        let what = format!("POST {PATH} {body}");
        match self.call(Method::POST, PATH, Some(body), &what).await? {
            Got::Answer(answer) if answer.status == 202 => {
                self.account.tally.acknowledged += 1;
                Some(answer.data()["providerRequestId"].as_str().map(str::to_owned))
            }
            Got::Answer(answer) => {
                self.wrong(&what, &answer);
                None
            }
            Got::Unknown(_) => {
                self.account.tally.in_doubt += 1;
                Some(None)
            }
            Got::NotSent => None,
        }
    }
}
