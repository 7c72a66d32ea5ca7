//! Generations: queue a job, ask for its status, wait for its output.

mod create;
mod wait;
mod watch;

use std::collections::HashSet;
use std::time::Duration;

use http::Method;

use super::Generations;
use crate::call::{Call, Context};
use crate::error::Error;
use crate::model::{GenerationState, GenerationStatus, JobId, OutputHint, Prompt, letters};
use crate::path;
use crate::send::evidence::{self, Evidence};
use crate::send::request::Request;
pub use create::CreateGeneration;
use create::NewGeneration;
use wait::Waiting;
pub use wait::{FinishedGeneration, Wait};
use watch::Watching;
pub use watch::{GenerationRef, Watch};

impl Generations {
    /// Queues a generation: an image by default, and [never twice](CreateGeneration).
    ///
    /// ```
    /// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
    /// let create = client.generations().create("local/plasma", "A harbour at dusk");
    /// let finished = create.aspect_ratio("16:9").batch_count(2).and_wait().await?;
    /// for image in finished.images() {
    ///     println!("{}", image.url);
    /// }
    /// # Ok(()) }
    /// ```
    pub fn create(
        &self,
        model_id: impl Into<String>,
        prompt: impl Into<String>,
    ) -> CreateGeneration {
        let generation = NewGeneration {
            model_id: model_id.into(),
            prompt: prompt.into(),
            client_job_id: JobId::from(uuid::Uuid::new_v4().to_string()),
            optional: Default::default(),
        };
        Call::of(self.client.context(), generation)
    }

    /// Asks once for the status of a job.
    pub fn status(&self, job: impl Into<GenerationRef>) -> Call<GenerationStatus> {
        self.client.call(status_request(&job.into().id))
    }

    /// Waits until a job has ended, and returns its output; see [`Wait`].
    pub fn wait(&self, job: impl Into<GenerationRef>) -> Wait<'static> {
        Call::of(self.client.context(), Waiting::new(job.into(), None))
    }

    /// The status of a job whenever it changes, as a stream; see [`Watch`].
    pub fn watch(&self, job: impl Into<GenerationRef>) -> Watch {
        Call::of(self.client.context(), Watching::new(&job.into()))
    }
}

/// Asks for the status of a job. The URL is made from the id, not taken from `statusUrl`, since the
/// API key is sent to it.
fn status_request(job: &JobId) -> Request {
    let invalid = matches!(job.as_str(), "" | "." | "..")
        .then(|| format!("the job id \"{job}\" cannot be part of a URL"));
    let path = path::generation_status(job);
    let request = Request::new(Method::GET, path::GENERATION_STATUS, path);
    Request { job: Some(job.clone()), invalid, ..request }
}

/// How often and how long a job is polled, and when it has ended.
#[derive(Debug, Clone)]
pub struct Polling {
    interval: Duration,
    max_interval: Duration,
    /// Final states of another service, without case and separators, and whether they are successes.
    ends: Vec<(String, bool)>,
}

impl Default for Polling {
    fn default() -> Self {
        let (interval, max_interval) = (Duration::from_millis(250), Duration::from_secs(3));
        Self { interval, max_interval, ends: Vec::new() }
    }
}

impl Polling {
    fn name(&mut self, states: impl IntoIterator<Item: AsRef<str>>, is_success: bool) {
        self.ends.extend(states.into_iter().map(|state| (letters(state.as_ref()), is_success)));
    }

    /// Whether a job in this state is completed; `None` if it has not ended.
    fn end(&self, state: &GenerationState) -> Option<bool> {
        let name = letters(state.as_str());
        let named = self.ends.iter().find(|(end, _)| *end == name);
        named.map(|(_, success)| *success).or(state.is_final().then(|| state.is_success()))
    }
}

/// A call that polls a job.
pub trait Polls {
    #[doc(hidden)]
    fn polling(&mut self) -> &mut Polling;
}

/// How often a job is polled.
impl<T, B: Polls> Call<T, B> {
    /// The delay before the second poll, which doubles with each poll and has jitter; 250
    /// milliseconds by default.
    pub fn poll_interval(mut self, interval: Duration) -> Self {
        self.builder.polling().interval = interval;
        self
    }

    /// The longest delay between two polls; 3 seconds by default.
    pub fn max_poll_interval(mut self, interval: Duration) -> Self {
        self.builder.polling().max_interval = interval;
        self
    }

    /// States by which another service says that a job has ended without output, such as `canceled`
    /// and `expired`, whatever their case and separators. A state that is neither known nor named
    /// here is polled on.
    pub fn final_states(mut self, states: impl IntoIterator<Item: AsRef<str>>) -> Self {
        self.builder.polling().name(states, false);
        self
    }

    /// States by which another service says that a job is completed, such as `succeeded`.
    pub fn success_states(mut self, states: impl IntoIterator<Item: AsRef<str>>) -> Self {
        self.builder.polling().name(states, true);
        self
    }
}

/// Finds the prompts that hold the output of a completed job: those that its status names, or else
/// those of the target vault that can only be its output. Nothing is guessed.
async fn find_output(
    context: &Context,
    status: &GenerationStatus,
    hint: &OutputHint,
) -> Result<Evidence<Vec<Prompt>>, Error> {
    let mut ids = status.prompt_ids.clone();
    ids.extend(status.prompt_id.filter(|id| !status.prompt_ids.contains(id)));
    if ids.is_empty() {
        return in_vault(context, status, hint).await;
    }
    let mut prompts = Vec::new();
    for id in ids {
        match context.client.prompts().get_opt(id).with(&context.options).await? {
            Some(prompt) => prompts.push(prompt),
            None => return Ok(Evidence::Unclear(format!("prompt {id} does not exist"))),
        }
    }
    Ok(Evidence::Present(prompts))
}

async fn in_vault(
    context: &Context,
    status: &GenerationStatus,
    hint: &OutputHint,
) -> Result<Evidence<Vec<Prompt>>, Error> {
    let vaults = match hint.vault_id.or(status.vault_id) {
        Some(vault) => vec![vault],
        // General, which the service may have given another name.
        None => {
            let vaults = context.client.vaults().list().with(&context.options).await?;
            vaults.into_iter().filter(|vault| vault.is_system).map(|vault| vault.id).collect()
        }
    };
    let mut members = Vec::new();
    for vault in &vaults {
        let of_vault = context.client.vault(*vault).list().with(&context.options).await?;
        members.extend(of_vault.into_iter().map(|member| member.prompt));
    }
    // A prompt can be in several system vaults.
    let mut seen = HashSet::new();
    members.retain(|prompt: &Prompt| seen.insert(prompt.id));
    let place = match vaults[..] {
        [] => "no vault".to_owned(),
        [vault] => format!("vault {vault}"),
        [..] => "General".to_owned(),
    };
    Ok(match evidence::output(members, status, hint) {
        Evidence::Unclear(problem) => {
            Evidence::Unclear(format!("the status names no prompt, and {place} has {problem}"))
        }
        other => other,
    })
}
