//! The provider that needs nothing: it draws.
//!
//! What it draws follows from prompt, model and seed alone, with a palette and a
//! composition that the prompt's words suggest. It keeps nothing between calls: the
//! ticket says when the order was taken, and the rest is in the order.
//!
//! Every name under `local/` is a model. Three are there for tests: `local/slow`
//! takes 3 seconds, or `parameters.seconds`; `local/fail` takes an order and fails;
//! `local/refuse` takes none.

mod base;
mod canvas;
mod chance;
mod colour;
mod draw;
mod file;
mod mood;
mod motif;
mod noise;
mod size;

use std::time::Duration;

use async_trait::async_trait;
use data_encoding::BASE32_DNSSEC;
use jiff::Timestamp;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::task::spawn_blocking;

use self::draw::Drawing;
use super::{PollError, Progress, Provider, SubmitError};
use crate::blobs::asset_url::Assets;
use crate::blobs::{AssetName, Blobs};
use crate::clock::Clock;
use crate::domain::{GenerationRequest, ProviderTicket};

const NAMESPACE: &str = "local/";
/// Shown of a model's name that does not exist.
const SHOWN_CHARS: usize = 80;
const SLOW: Duration = Duration::from_secs(3);
/// The longest that `parameters.seconds` can ask for.
const SLOW_MAX_SECONDS: f64 = 600.0;

/// Draws. Input images are used if they are assets of this service; it fetches
/// nothing from anywhere else.
#[derive(Clone, Debug)]
pub struct LocalProvider {
    clock: Clock,
    assets: Assets,
    blobs: Blobs,
}

impl LocalProvider {
    /// `assets` and `blobs` are where input images are found.
    pub const fn new(clock: Clock, assets: Assets, blobs: Blobs) -> Self {
        Self { clock, assets, blobs }
    }

    /// The input images that are ours.
    fn inputs(&self, order: &GenerationRequest) -> Vec<AssetName> {
        let given = order.image_input.iter().chain(&order.image_inputs);
        given.filter_map(|url| self.assets.name_in(url)).collect()
    }

    /// How long ago an order was taken; nothing if the clock went back.
    fn age(&self, ticket: &ProviderTicket) -> Result<Duration, PollError> {
        let taken: Timestamp =
            ticket.memo.parse().map_err(|_| PollError("a ticket of another provider".into()))?;
        Ok(self.clock.now().duration_since(taken).try_into().unwrap_or_default())
    }

    async fn draw(&self, order: &GenerationRequest) -> Result<Progress, PollError> {
        let mut bases = Vec::new();
        for name in self.inputs(order) {
            match self.blobs.read_all(&name).await {
                Ok(Some(bytes)) => bases.push(bytes),
                Ok(None) => return Ok(Progress::Failed(no_upload(&name))),
                Err(error) => return Err(PollError(error.to_string())),
            }
        }
        let size = match size::size(&order.aspect_ratio, order.kind) {
            Ok(size) => size,
            Err(reason) => return Ok(Progress::Failed(reason)),
        };
        let drawing = Drawing {
            prompt: order.prompt.clone(),
            kind: order.kind,
            size,
            count: order.batch_count,
            seed: seed(order),
            bases,
        };
        match spawn_blocking(move || drawing.draw()).await {
            Ok(Ok(outputs)) => Ok(Progress::Completed(outputs)),
            Ok(Err(reason)) => Ok(Progress::Failed(reason)),
            Err(error) => Err(PollError(error.to_string())),
        }
    }
}

#[async_trait]
impl Provider for LocalProvider {
    async fn submit(&self, order: &GenerationRequest) -> Result<ProviderTicket, SubmitError> {
        let model = model(order);
        if model.strip_prefix(NAMESPACE).is_none_or(str::is_empty) {
            let shown: String = model.chars().take(SHOWN_CHARS).collect();
            return Err(SubmitError::Refused(format!("there is no model {shown:?}")));
        }
        if model == "local/refuse" {
            return Err(SubmitError::Refused("local/refuse takes no orders".into()));
        }
        size::size(&order.aspect_ratio, order.kind).map_err(SubmitError::Refused)?;
        for name in self.inputs(order) {
            match self.blobs.size_of(&name).await {
                Ok(Some(_)) => {}
                Ok(None) => return Err(SubmitError::Refused(no_upload(&name))),
                Err(error) => return Err(SubmitError::Unavailable(error.to_string())),
            }
        }
        let id: [u8; 16] = rand::random();
        Ok(ProviderTicket {
            request_id: BASE32_DNSSEC.encode(&id).into(),
            memo: self.clock.now().to_string().into(),
        })
    }

    async fn poll(
        &self,
        ticket: &ProviderTicket,
        order: &GenerationRequest,
    ) -> Result<Progress, PollError> {
        let age = self.age(ticket)?;
        match model(order) {
            "local/fail" => Ok(Progress::Failed("local/fail always fails".into())),
            "local/slow" => match slow(order) {
                whole if age < whole / 3 => Ok(Progress::Queued),
                whole if age < whole => Ok(Progress::InProgress),
                _ => self.draw(order).await,
            },
            _ => self.draw(order).await,
        }
    }
}

/// The model that an order comes to: the editing one if there is something to edit.
fn model(order: &GenerationRequest) -> &str {
    match (&order.image_edit_endpoint_id, &order.image_input) {
        (Some(endpoint), Some(_)) => endpoint,
        _ => &order.model_id,
    }
}

/// How long `local/slow` takes.
fn slow(order: &GenerationRequest) -> Duration {
    let parameters = order.parameters.as_ref();
    let seconds = parameters.and_then(|all| all.get("seconds")).and_then(Value::as_f64);
    seconds.map_or(SLOW, |seconds| {
        Duration::try_from_secs_f64(seconds.clamp(0.0, SLOW_MAX_SECONDS)).unwrap_or(SLOW)
    })
}

/// From model, prompt and `parameters.seed`, whatever kind of value that is.
fn seed(order: &GenerationRequest) -> u64 {
    let given = order.parameters.as_ref().and_then(|all| all.get("seed"));
    let mut digest = Sha256::new();
    for part in [model(order), &order.prompt, &given.map(Value::to_string).unwrap_or_default()] {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    let digest = digest.finalize();
    digest.iter().take(8).fold(0, |seed, byte| seed << 8 | u64::from(*byte))
}

fn no_upload(name: &AssetName) -> String {
    format!("the input image {name} was not uploaded")
}

#[cfg(test)]
mod tests;
