//! Generations: queueing one, asking how far it is, waiting for it.

mod create;
mod wait;
mod watch;

#[cfg(test)]
mod tests;

use futures_core::future::BoxFuture;
use http::Method;

use super::Error;
use super::call::{Call, Endpoint, sealed::Sealed};
use super::mode::{Async, Bound, Mode};
use super::reply::Reply;
use super::request::Request;
use super::retry::RetryPolicy;
use crate::model::{GenerationStatus, JobId};
use crate::path;
pub use create::CreateGeneration;
pub use wait::{FinishedGeneration, Wait};
use watch::Answer;
pub use watch::Watch;

/// Media that external models make; made by [`Client::generations`](crate::Client::generations).
#[derive(Debug, Clone)]
pub struct Generations<M = Async> {
    pub(super) client: Bound<M>,
}

impl<M: Mode> Generations<M> {
    pub(super) const fn new(client: Bound<M>) -> Self {
        Self { client }
    }

    /// Queues a generation (`GE-01`): an image unless told (`GE-09`).
    ///
    /// The prompt has at most
    /// [`GENERATION_PROMPT_CHARS_MAX`](crate::limits::GENERATION_PROMPT_CHARS_MAX)
    /// characters (`LI-09`).
    ///
    /// The job has its id before the call is sent (see [`Call::job_id`]), so the same
    /// call can be sent again when its answer was lost: it is the same job, and there
    /// is no second picture to pay for.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// let job = client
    ///     .generations()
    ///     .create("local/plasma", "A harbour at dusk")
    ///     .aspect_ratio("16:9")
    ///     .batch_count(2)
    ///     .await?;
    /// let finished = client.generations().wait(job).await?;
    /// for image in finished.images() {
    ///     println!("{}", image.url);
    /// }
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn create(
        &self,
        model_id: impl Into<String>,
        prompt: impl Into<String>,
    ) -> Call<CreateGeneration, M> {
        self.client.call(CreateGeneration::new(model_id.into(), prompt.into()))
    }

    /// Asks once how far a job has come (`GE-31`).
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// let status = client.generations().status("invoice-17").await?;
    /// println!("{}", status.status);
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn status(&self, job: impl Into<JobId>) -> Call<GetGenerationStatus, M> {
        self.client.call(GetGenerationStatus { job: job.into() })
    }

    /// Everything that can be asked of one job. Sends nothing, and needs no more than
    /// the id, which can be kept and used in another process.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// let kept = std::fs::read_to_string("job.txt").unwrap_or_default();
    /// let finished = client.generations().job(kept).wait().await?;
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn job(&self, job: impl Into<JobId>) -> JobHandle<M> {
        JobHandle { client: self.client.clone(), id: job.into() }
    }

    /// Waits until a job has ended, and brings its output; see [`Wait`].
    pub fn wait(&self, job: impl Into<JobId>) -> Wait<M> {
        self.job(job).wait()
    }
}

impl Generations {
    /// What becomes of a job, as a stream; see [`Watch`].
    pub fn watch(&self, job: impl Into<JobId>) -> Watch {
        self.job(job).watch()
    }
}

/// One job; made by [`Generations::job`].
///
/// ```
/// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
/// let job = client.generations().job("invoice-17");
/// println!("{} is {}", job.id(), job.status().await?.status);
/// let finished = job.wait().await?;
/// # Ok(())
/// # }
/// # promptarium::testing::demo::run(example);
/// ```
#[derive(Debug, Clone)]
pub struct JobHandle<M = Async> {
    pub(super) client: Bound<M>,
    id: JobId,
}

impl<M: Mode> JobHandle<M> {
    /// Names the job.
    #[must_use]
    pub const fn id(&self) -> &JobId {
        &self.id
    }

    /// Asks once how far the job has come (`GE-31`).
    pub fn status(&self) -> Call<GetGenerationStatus, M> {
        self.client.call(GetGenerationStatus { job: self.id.clone() })
    }

    /// Waits until the job has ended, and brings its output; see [`Wait`].
    pub fn wait(&self) -> Wait<M> {
        let prompts = self.client.prompts();
        Wait::new(self.client.mode.clone(), self.changes(), move |prompt| {
            prompts.get(prompt).retry(RetryPolicy::never()).into_future()
        })
    }

    pub(super) fn changes(&self) -> Watch {
        let config = &self.client.0;
        // Asking again is what a watch does by itself.
        let call = self.status().retry(RetryPolicy::never());
        let (time, dice) = (config.time.clone(), config.dice.clone());
        Watch::new(self.id.clone(), time, dice, move || ask(call.clone()))
    }
}

impl JobHandle {
    /// What becomes of the job, as a stream; see [`Watch`].
    pub fn watch(&self) -> Watch {
        self.changes()
    }
}

/// The status with what a [`Call`] leaves out: how long the service asks to be left
/// alone.
fn ask<M: Mode>(call: Call<GetGenerationStatus, M>) -> BoxFuture<'static, Result<Answer, Error>> {
    Box::pin(async move {
        let time = call.client.0.time.clone();
        let reply = call.reply().await?;
        let retry_after = reply.retry_after(&time);
        let status = GetGenerationStatus::read(reply)?;
        Ok(Answer { status, retry_after })
    })
}

/// `GET /generations/{clientJobId}/status`.
///
/// The address is made from the id. The one that [`create`](Generations::create)
/// gave is the same by the rules (`GE-05`); if it were another, the key would not
/// belong there.
#[derive(Debug, Clone)]
pub struct GetGenerationStatus {
    job: JobId,
}

impl Sealed for GetGenerationStatus {}

impl Endpoint for GetGenerationStatus {
    type Output = GenerationStatus;

    fn request(&self) -> Result<Request, Error> {
        if matches!(self.job.as_str(), "" | "." | "..") {
            let text = format!("the job id \"{}\" cannot stand in an address", self.job);
            return Err(Error::input(text));
        }
        let address = path::generation_status(&self.job);
        Ok(Request::new(Method::GET, path::GENERATION_STATUS, address))
    }

    fn read(reply: Reply) -> Result<GenerationStatus, Error> {
        reply.data()
    }
}
