//! Waiting for the end of a job, and for what came of it.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use futures_core::future::BoxFuture;

use super::watch::Watch;
use crate::client::Error;
use crate::client::mode::Async;
use crate::client::trace::Span;
use crate::model::{GenerationStatus, Prompt, PromptId, PromptImage};

type Fetch = dyn FnMut(PromptId) -> BoxFuture<'static, Result<Prompt, Error>> + Send;
type OnChange = dyn FnMut(&GenerationStatus) + Send;

/// Waits until a job has ended. Nothing is sent until it is awaited.
///
/// Made by [`Generations::wait`](crate::call::Generations::wait). It polls as
/// [`Watch`] does. Dropping the future stops all its traffic.
///
/// # Errors
///
/// [`Error::is_job_failed`] when the generation ended without output, and
/// [`Error::is_deadline`] when it did not end in time; both name the job. A poll that
/// fails for good, with 401 or 404 say, is that call's error.
///
/// ```
/// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
/// use std::time::Duration;
///
/// let finished = client
///     .generations()
///     .wait("invoice-17")
///     .deadline(Duration::from_secs(120))
///     .on_change(|status| println!("{}", status.status))
///     .await;
/// match finished {
///     Ok(finished) => println!("{} images", finished.images().len()),
///     Err(error) if error.is_job_failed() => println!("no image: {error}"),
///     Err(error) if error.is_deadline() => println!("still at it: {error}"),
///     Err(error) => return Err(error),
/// }
/// # Ok(())
/// # }
/// # promptarium::testing::demo::run(example);
/// ```
#[must_use = "a job is waited for only when this is awaited, or by `send`"]
pub struct Wait<M = Async> {
    pub(in crate::client) mode: M,
    watch: Watch,
    fetch: Box<Fetch>,
    on_change: Box<OnChange>,
}

impl<M> Wait<M> {
    pub(super) fn new(
        mode: M,
        watch: Watch,
        fetch: impl FnMut(PromptId) -> BoxFuture<'static, Result<Prompt, Error>> + Send + 'static,
    ) -> Self {
        Self { mode, watch, fetch: Box::new(fetch), on_change: Box::new(|_| ()) }
    }

    /// How long to wait before asking again, from the first time to the longest;
    /// [`Watch::DEFAULT_POLL_EVERY`] otherwise.
    pub fn poll_every(mut self, delays: RangeInclusive<Duration>) -> Self {
        self.watch = self.watch.poll_every(delays);
        self
    }

    /// How long the whole may take; [`Watch::DEFAULT_DEADLINE`] otherwise, and
    /// [`Duration::MAX`] for as long as it needs. What the service does is not
    /// touched by it.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.watch = self.watch.deadline(deadline);
        self
    }

    /// Is told the first status and each that differs from the one before, the final
    /// one included.
    pub fn on_change(mut self, told: impl FnMut(&GenerationStatus) + Send + 'static) -> Self {
        self.on_change = Box::new(told);
        self
    }

    pub(in crate::client) async fn run(self) -> Result<FinishedGeneration, Error> {
        let span = Span::wait(self.watch.job_id());
        let outcome = span.around(self.run_within(&span)).await;
        outcome.inspect_err(|error| span.failed(error))
    }

    async fn run_within(mut self, span: &Span) -> Result<FinishedGeneration, Error> {
        while let Some(change) = self.watch.next().await {
            let status = change?;
            span.changed(&status);
            (self.on_change)(&status);
            if status.status.is_success() {
                let prompt = self.output(&status).await?;
                return Ok(FinishedGeneration { status, prompt });
            }
            if status.status.is_final() {
                return Err(Error::job_failed(self.watch.job_id().clone(), status));
            }
        }
        // A watch ends only after one of the above.
        Err(self.watch.too_late())
    }

    /// The prompt with the output. It is no failure of the job if it has been deleted
    /// meanwhile, or if the service did not say which it is.
    async fn output(&mut self, status: &GenerationStatus) -> Result<Option<Prompt>, Error> {
        let Some(id) = status.prompt_id else { return Ok(None) };
        match self.watch.insist(|| (self.fetch)(id)).await {
            Ok(prompt) => Ok(Some(prompt)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl IntoFuture for Wait {
    type Output = Result<FinishedGeneration, Error>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<M: fmt::Debug> fmt::Debug for Wait<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wait")
            .field("mode", &self.mode)
            .field("watch", &self.watch)
            .finish_non_exhaustive()
    }
}

/// A generation that completed (`GE-28`), with its output (`GE-29`).
///
/// ```
/// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
/// let finished = client.generations().wait("invoice-17").await?;
/// for image in finished.images() {
///     println!("{} ({} by {})", image.url, image.width, image.height);
/// }
/// # Ok(())
/// # }
/// # promptarium::testing::demo::run(example);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FinishedGeneration {
    /// The final status.
    pub status: GenerationStatus,
    /// The prompt that holds the output. `None` if the service did not name it, or if
    /// it is gone already; the output of the former is in the target vault (`GE-32`).
    pub prompt: Option<Prompt>,
}

impl FinishedGeneration {
    /// What was made, one entry for each output; empty without
    /// [`prompt`](Self::prompt).
    #[must_use]
    pub fn images(&self) -> &[PromptImage] {
        self.prompt.as_ref().map_or(&[], |prompt| &prompt.images)
    }
}
