//! Generations: queue a job, ask for its status, wait for its output.

mod create;
mod output;
mod polling;
mod wait;
mod watch;

use http::Method;

use super::Generations;
use crate::call::Call;
use crate::model::{GenerationStatus, JobId};
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
