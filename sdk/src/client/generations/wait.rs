//! Waits for the end of a job, and returns its output.

use std::fmt;
use std::time::Duration;

use futures_core::future::BoxFuture;

use super::create::CreateGeneration;
use super::output;
use super::watch::Watch;
use crate::client::methods::awaitable;
use crate::client::trace::Span;
use crate::client::{Client, Error};
use crate::model::{
    GenerationJob, GenerationStatus, JobId, OutputHint, Prompt, PromptImage, VaultId,
};

type OnChange<'a> = dyn FnMut(&GenerationStatus) + Send + 'a;

/// A job to ask for: its id, or the [`GenerationJob`] that
/// [`create`](crate::resources::Generations::create) returned, which also knows the vault and the
/// text of the output that [`wait`](crate::resources::Generations::wait) looks for.
#[derive(Debug, Clone)]
pub struct GenerationRef {
    pub(super) id: JobId,
    pub(super) output: OutputHint,
}

impl From<&GenerationJob> for GenerationRef {
    fn from(job: &GenerationJob) -> Self {
        Self { id: job.client_job_id.clone(), output: job.output_hint.clone() }
    }
}

impl From<GenerationJob> for GenerationRef {
    fn from(job: GenerationJob) -> Self {
        Self::from(&job)
    }
}

impl<Id: Into<JobId>> From<Id> for GenerationRef {
    fn from(id: Id) -> Self {
        Self { id: id.into(), output: OutputHint::default() }
    }
}

/// Waits until a job has ended, and returns its output. Nothing is sent until it is awaited.
///
/// Returned by [`Generations::wait`](crate::resources::Generations::wait), and by
/// [`and_wait`](CreateGeneration::and_wait) of a call, which then is sent first. It polls as
/// [`Watch`] does. If the status of the completed job does not name its prompts, they are looked up
/// in the target vault: new prompts with images and the text of the job. Dropping the future stops
/// the polling.
///
/// # Errors
///
/// [`Error::is_job_failed`] if the generation failed, [`Error::is_wait_timeout`] if it did not end
/// in time, and [`Error::is_output_not_found`] if it completed without output that can be found;
/// all name the job. With `and_wait` also those of the call. A poll that fails with an error that
/// is not transient, such as 401 or 404, ends the wait.
///
/// ```
/// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
/// use std::time::Duration;
///
/// let finished = client
///     .generations()
///     .wait("invoice-17")
///     .timeout(Duration::from_secs(120))
///     .on_change(|status| println!("{}", status.state))
///     .await;
/// match finished {
///     Ok(finished) => println!("{} images", finished.images().count()),
///     Err(error) if error.is_job_failed() => println!("no image: {error}"),
///     Err(error) if error.is_wait_timeout() => println!("still running: {error}"),
///     Err(error) => return Err(error),
/// }
/// # Ok(()) }
/// ```
#[must_use = "a job is waited for only when this is awaited, or by `send_blocking`"]
pub struct Wait<'a> {
    client: Client,
    /// Queued before the wait.
    create: Option<Box<CreateGeneration>>,
    watch: Watch,
    output: OutputHint,
    on_change: Box<OnChange<'a>>,
}

impl<'a> Wait<'a> {
    pub(super) fn new(
        client: Client,
        job: GenerationRef,
        create: Option<Box<CreateGeneration>>,
    ) -> Self {
        let watch = Watch::new(client.clone(), job.id);
        Self { client, create, watch, output: job.output, on_change: Box::new(|_| ()) }
    }

    /// The delay before the second poll; see [`Watch::poll_interval`].
    pub fn poll_interval(mut self, interval: Duration) -> Self {
        self.watch = self.watch.poll_interval(interval);
        self
    }

    /// The longest delay between two polls; see [`Watch::max_poll_interval`].
    pub fn max_poll_interval(mut self, interval: Duration) -> Self {
        self.watch = self.watch.max_poll_interval(interval);
        self
    }

    /// How long to wait; see [`Watch::timeout`]. The job itself continues after it.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.watch = self.watch.timeout(timeout);
        self
    }

    /// Calls this with the first status, each that differs from the one before, and the final one.
    /// It may borrow, unless the wait is moved to a task.
    ///
    /// ```
    /// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
    /// let mut states = Vec::new();
    /// let wait = client.generations().wait("invoice-17");
    /// wait.on_change(|status| states.push(status.state.clone())).await?;
    /// println!("{states:?}");
    /// # Ok(()) }
    /// ```
    pub fn on_change<'b>(self, on_change: impl FnMut(&GenerationStatus) + Send + 'b) -> Wait<'b> {
        Wait { on_change: Box::new(on_change), ..self }
    }

    /// The vault that takes the output, for a job that is known by its id only.
    pub fn vault(mut self, vault: VaultId) -> Self {
        self.output.vault_id = Some(vault);
        self
    }

    /// The text of the generation, for a job that is known by its id only. It tells its output
    /// from that of other jobs in the same vault.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.output.prompt = Some(text.into());
        self
    }

    async fn run(mut self) -> Result<FinishedGeneration, Error> {
        if let Some(create) = self.create.take() {
            let job = create.send().await?;
            self.watch.job = job.client_job_id;
            let OutputHint { vault_id, prompt, .. } = self.output;
            self.output = job.output_hint;
            self.output.vault_id = vault_id.or(self.output.vault_id);
            self.output.prompt = prompt.or(self.output.prompt);
        }
        let span = Span::wait(&self.watch.job);
        let outcome = span.around(self.run_within(&span)).await;
        outcome.inspect_err(|error| span.failed(error))
    }

    async fn run_within(mut self, span: &Span) -> Result<FinishedGeneration, Error> {
        while let Some(change) = self.watch.next().await {
            let status = change?;
            span.changed(&status);
            (self.on_change)(&status);
            if status.state.is_success() {
                let prompts = self.find_output(&status).await?;
                return Ok(FinishedGeneration { status, prompts });
            }
            if status.state.is_final() {
                return Err(Error::job_failed(self.watch.job.clone(), status));
            }
        }
        // A watch ends only after one of the above.
        Err(self.watch.timed_out())
    }

    /// Looks for the output several times, since a service may show it a little later.
    async fn find_output(&mut self, status: &GenerationStatus) -> Result<Vec<Prompt>, Error> {
        const ATTEMPTS: u32 = 4;
        let (client, hint) = (self.client.clone(), self.output.clone());
        let mut attempt = 1;
        loop {
            let find = || Box::pin(output::find(&client, status, &hint)) as BoxFuture<'_, _>;
            match self.watch.retrying(find).await? {
                Ok(prompts) => return Ok(prompts),
                Err(place) if attempt == ATTEMPTS => {
                    let job = self.watch.job.clone();
                    return Err(Error::output_not_found(job, status.clone(), place));
                }
                Err(_) => self.watch.pause().await?,
            }
            attempt += 1;
        }
    }
}

awaitable!(['a] Wait<'a>, 'a -> FinishedGeneration, Wait::run);

impl fmt::Debug for Wait<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wait").field("watch", &self.watch).finish_non_exhaustive()
    }
}

/// A completed generation with its output.
///
/// ```
/// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
/// let finished = client.generations().wait("invoice-17").await?;
/// for image in finished.images() {
///     println!("{} ({:?} by {:?})", image.url, image.width, image.height);
/// }
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FinishedGeneration {
    /// The final status.
    pub status: GenerationStatus,
    /// The prompts that hold the output; never empty.
    pub prompts: Vec<Prompt>,
}

impl FinishedGeneration {
    /// The images of all prompts: one for each output.
    pub fn images(&self) -> impl Iterator<Item = &PromptImage> {
        self.prompts.iter().flat_map(|prompt| &prompt.images)
    }
}
