//! Generations: queue a job, ask for its status, wait for its output.

mod create;
mod output;
mod wait;
mod watch;

use std::time::Duration;

use http::Method;

use super::Generations;
use crate::call::Call;
use crate::model::{GenerationState, GenerationStatus, JobId, letters};
use crate::path;
use crate::send::request::Request;
pub use create::CreateGeneration;
use create::NewGeneration;
use wait::Waiting;
pub use wait::{FinishedGeneration, Wait};
use watch::Watching;
pub use watch::{GenerationRef, Watch};

impl Generations {
    /// Queues a generation: an image by default. It is never queued twice; see
    /// [`CreateGeneration`].
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
    request.job(job.clone()).invalid_if(invalid)
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
