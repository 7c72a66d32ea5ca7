//! Generation requests, their jobs and leases, and the prompt that the outputs are saved as.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use promptarium::{PromptId, VaultId, limits};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::{AccountId, ImageRef, NewPrompt, PromptImage, PromptInputs, PromptKind};

/// A checked request. A provider gets it with URLs in place of the names of assets.
///
/// Servers of other versions read its JSON: a field keeps its name and meaning, and may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GenerationRequest {
    /// The model's endpoint at the provider.
    pub model_id: Box<str>,
    /// At most 100000 characters.
    pub prompt: Box<str>,
    /// The type of the outputs.
    pub kind: OutputKind,
    /// At most 100000 characters.
    pub negative_prompt: Option<Box<str>>,
    pub image_input: Option<ImageRef>,
    /// At most 7.
    pub image_inputs: Vec<ImageRef>,
    /// For example `16:9`.
    pub aspect_ratio: Box<str>,
    /// 1 to 4 outputs.
    pub batch_count: u32,
    /// Parameters of the model, passed through.
    pub parameters: Option<Map<String, Value>>,
    /// At most 7.
    pub reference_image_urls: Vec<ImageRef>,
    /// The endpoint of an editing model, used instead of `model_id` if there is an `image_input`.
    pub image_edit_endpoint_id: Option<Box<str>>,
}

impl GenerationRequest {
    pub fn images(&self) -> impl Iterator<Item = &ImageRef> {
        self.image_input.iter().chain(&self.image_inputs).chain(&self.reference_image_urls)
    }

    pub(crate) fn images_mut(&mut self) -> impl Iterator<Item = &mut ImageRef> {
        let inputs = self.image_input.iter_mut().chain(&mut self.image_inputs);
        inputs.chain(&mut self.reference_image_urls)
    }
}

named! {
    /// The type of the outputs.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    OutputKind { #[default] Image = "image", Video = "video" }
}

#[derive(Clone, Debug)]
pub struct NewJob {
    /// Given by the caller or generated; unique in the account.
    pub client_job_id: Arc<str>,
    /// SHA-256 of the request. Tells a repeated request from another one with the same name.
    pub digest: [u8; 32],
    pub request: Arc<GenerationRequest>,
    /// Where the output goes; General if `None`.
    pub vault: Option<VaultId>,
}

/// Identifies a job in the service.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JobKey {
    pub account: AccountId,
    pub client_job_id: Arc<str>,
}

impl JobKey {
    /// What stands for a name of any length where keys have a fixed size: its SHA-256.
    pub(crate) fn name_digest(client_job_id: &str) -> [u8; 32] {
        Sha256::digest(client_job_id).into()
    }
}

/// The provider's handle of a job that it accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderTicket {
    /// Shown to the caller as `providerRequestId`.
    pub request_id: Box<str>,
    /// State of the provider's client, needed for polling. Never shown.
    pub provider_state: Box<str>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobState {
    /// It is being sent to the provider; the caller has no response yet.
    Submitting,
    /// The provider has accepted it.
    Queued(ProviderTicket),
    InProgress(ProviderTicket),
    /// The output is saved as this prompt.
    Completed(ProviderTicket, PromptId),
    /// With the reason. There is no ticket if it is not known whether the provider accepted it.
    Failed(Option<ProviderTicket>, Arc<str>),
}

impl JobState {
    pub const fn ticket(&self) -> Option<&ProviderTicket> {
        match self {
            Self::Queued(ticket) | Self::InProgress(ticket) | Self::Completed(ticket, _) => {
                Some(ticket)
            }
            Self::Failed(ticket, _) => ticket.as_ref(),
            Self::Submitting => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobRecord {
    pub key: JobKey,
    pub request: Arc<GenerationRequest>,
    /// The requested vault, or General.
    pub vault: VaultId,
    pub state: JobState,
    /// What it waits for, for the caller; `None` if that is the provider.
    pub waits_for: Option<Arc<str>>,
    /// When it was reserved.
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

#[derive(Clone, Debug)]
pub enum Reserved {
    /// The name was free. The caller of this step must submit the job and record the result.
    New(JobRecord),
    /// The job of an equal earlier request. It may still be [`JobState::Submitting`].
    Existing(JobRecord),
}

/// The right to work on one job until it expires. The fencing token is new for each claim, so a
/// slow worker cannot overwrite its successor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub job: JobKey,
    /// Random; known only to the holder and the store.
    pub fence: u128,
}

/// Which account is next. Accounts take turns, however many jobs one of them has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// The account of the last claim. The next one is the first after it, around in the order.
    pub after: AccountId,
    pub except: Vec<AccountId>,
}

#[derive(Clone, Debug)]
pub struct Claim {
    pub lease: Lease,
    pub job: JobRecord,
    /// Failed attempts since the last successful one.
    pub failed_attempts: u32,
    /// The time since the first of them.
    pub failing_for: Duration,
    pub overdue: Duration,
}

/// Why a worker releases a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    Waiting,
    InProgress,
    /// The attempt failed for a reason that may pass.
    FailedAttempt,
    /// The worker shuts down before the attempt ended.
    Shutdown,
}

/// The prompt that holds the outputs of a request, with the beginning of its text (S-39).
pub(crate) fn output_prompt(
    request: &GenerationRequest,
    vault: VaultId,
    images: Vec<PromptImage>,
) -> NewPrompt {
    let fitting = request.aspect_ratio.chars().count() <= limits::PROMPT_ASPECT_RATIO_CHARS_MAX;
    let references: Arc<[_]> = request.reference_image_urls.iter().cloned().collect();
    NewPrompt {
        title: title(&request.prompt).into(),
        text: beginning(&request.prompt, *limits::PROMPT_TEXT_CHARS.end()).into(),
        kind: match request.kind {
            OutputKind::Image => PromptKind::Image,
            OutputKind::Video => PromptKind::Video,
        },
        platform: None,
        inputs: PromptInputs {
            model_id: Some((*request.model_id).into()),
            aspect_ratio: fitting.then(|| (*request.aspect_ratio).into()),
            image_url: request.image_input.clone(),
            reference_media_urls: Some(references).filter(|urls| !urls.is_empty()),
        },
        vault: Some(vault),
        images: images.into(),
    }
}

fn title(text: &str) -> &str {
    match beginning(text.trim_start(), *limits::PROMPT_TITLE_CHARS.end()).trim_end() {
        "" => "Untitled",
        title => title,
    }
}

fn beginning(text: &str, chars_max: usize) -> &str {
    text.char_indices().nth(chars_max).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_beginning_without_space_around_it_and_never_empty() {
        let (ends, long) = ("é".repeat(120), "é".repeat(121));
        let spaced = format!("{} more", "a".repeat(119));
        for (text, expected) in [
            ("A harbour", "A harbour"),
            ("\n  A harbour \t", "A harbour"),
            (" \n", "Untitled"),
            (&ends, &ends),
            (&long, &ends),
            (&spaced, &"a".repeat(119)),
        ] {
            assert_eq!(title(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_does_not_fit_into_a_prompt_is_left_out() {
        let request = GenerationRequest {
            model_id: "local/plasma".into(),
            prompt: "漢".repeat(15_001).into(),
            aspect_ratio: "1".repeat(21).into(),
            kind: OutputKind::Video,
            ..GenerationRequest::default()
        };
        let prompt = output_prompt(&request, VaultId::new(7), Vec::new());
        assert_eq!(prompt.text.chars().count(), 15_000);
        assert_eq!(prompt.title.chars().count(), 120);
        assert_eq!((prompt.kind, prompt.vault), (PromptKind::Video, Some(VaultId::new(7))));
        assert_eq!((prompt.inputs.aspect_ratio, prompt.inputs.image_url), (None, None));
        assert_eq!(prompt.inputs.model_id.as_deref(), Some("local/plasma"));
        assert_eq!(prompt.inputs.reference_media_urls, None);
    }
}
