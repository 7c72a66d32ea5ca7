//! Waits for the end of a job, and returns its output.

#[cfg(feature = "webhook")]
use std::{future::poll_fn, pin::Pin, task::Poll, time::Duration};

#[cfg(feature = "webhook")]
use futures_core::Stream;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep};

use super::output;
use super::polling::polling;
use super::watch::{GenerationRef, Watch};
use crate::call::{Call, Context};
use crate::error::Error;
use crate::macros::{awaitable, debug, options};
#[cfg(feature = "webhook")]
use crate::model::WebhookEvent;
use crate::model::{GenerationJob, GenerationStatus, OutputHint, Prompt, PromptImage, VaultId};
use crate::send::evidence::Evidence;
use crate::send::outcome::Outcome;
use crate::send::timeout::until;
use crate::send::trace::Span;

type OnChange<'a> = dyn FnMut(&GenerationStatus) + Send + 'a;

#[cfg(feature = "webhook")]
type Events = Pin<Box<dyn Stream<Item = WebhookEvent> + Send>>;

/// Waits until a job has ended, and returns its output. Nothing is sent until it is awaited.
///
/// Returned by [`Generations::wait`](crate::resources::Generations::wait), and by
/// [`and_wait`](crate::request::CreateGeneration::and_wait) of a call, which then is sent first. It
/// polls as [`Watch`] does. One [`timeout`](Self::timeout) bounds all of it.
///
/// # Output
///
/// The prompts that the status of the completed job names. If it names none, or contradicts itself,
/// they are looked up in the target vault: prompts with the text of the job and images, made after
/// the job was queued. Where more of them fit than the job has outputs, none is chosen.
///
/// # Errors
///
/// [`Error::is_job_failed`], [`Error::is_wait_timeout`], [`Error::is_output_not_found`], and those of
/// the call and of a poll that are not transient. All name the job ([`Error::job_id`]).
///
/// ```
/// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
/// let wait = client.generations().wait("invoice-17");
/// let finished = wait.on_change(|status| println!("{}", status.state)).await?;
/// println!("{} images", finished.images().count());
/// # Ok(()) }
/// ```
#[must_use = "a job is waited for only when this is awaited, or by `send`"]
pub struct Wait<'a> {
    /// Queues the job first.
    create: Option<Call<GenerationJob>>,
    watch: Watch,
    output: OutputHint,
    on_change: Box<OnChange<'a>>,
    #[cfg(feature = "webhook")]
    events: Option<Events>,
}

polling!(['a] Wait<'a>, watch.polling);

impl<'a> Wait<'a> {
    pub(super) fn new(
        context: Context,
        job: GenerationRef,
        create: Option<Call<GenerationJob>>,
    ) -> Self {
        let watch = Watch::new(context, &job);
        Self {
            create,
            watch,
            output: job.output,
            on_change: Box::new(|_| ()),
            #[cfg(feature = "webhook")]
            events: None,
        }
    }

    /// Calls this with the first status, each that differs from the one before, and the final one.
    /// It may borrow, unless the wait is moved to a task.
    pub fn on_change<'b>(self, on_change: impl FnMut(&GenerationStatus) + Send + 'b) -> Wait<'b> {
        Wait { on_change: Box::new(on_change), ..self }
    }

    /// Ends the wait with the event of the job in this stream, of the account's verified events in any
    /// order. Beside it the job is polled once a minute, since an event may come late.
    #[cfg(feature = "webhook")]
    pub fn notified(mut self, events: impl Stream<Item = WebhookEvent> + Send + 'static) -> Self {
        self.events = Some(Box::pin(events));
        let minute = Duration::from_secs(60);
        self.poll_interval(minute).max_poll_interval(minute)
    }

    /// The next status, from a poll or an event.
    async fn next(&mut self) -> Option<Result<GenerationStatus, Error>> {
        #[cfg(feature = "webhook")]
        if let Some(events) = &mut self.events {
            let (watch, mut events) = (&mut self.watch, events.as_mut());
            return poll_fn(|cx| {
                while let Poll::Ready(Some(event)) = events.as_mut().poll_next(cx) {
                    let status =
                        event.generation.filter(|of| of.client_job_id.as_ref() == Some(&watch.job));
                    if status.is_some() {
                        return Poll::Ready(status.map(Ok));
                    }
                }
                watch.poll_change(cx)
            })
            .await;
        }
        self.watch.next().await
    }

    /// The vault that takes the output, for a job that is known by its id only.
    pub fn vault(mut self, vault: VaultId) -> Self {
        self.output.vault_id = Some(vault);
        self
    }

    /// The text of the generation, for a job that is known by its id only.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.output.prompt = Some(text.into());
        self
    }

    async fn run(mut self) -> Result<FinishedGeneration, Error> {
        let deadline = self.watch.start();
        let creates = self.create.is_some();
        if let Some(mut create) = self.create.take() {
            let timeout = self.watch.polling.timeout;
            create.context.options.set().deadline = deadline.map(|end| (end, timeout));
            let job = create.send().await?;
            self.watch.queued(job.client_job_id);
            let OutputHint { vault_id, prompt, .. } = self.output;
            self.output = job.output_hint;
            self.output.vault_id = vault_id.or(self.output.vault_id);
            self.output.prompt = prompt.or(self.output.prompt);
        }
        let span = Span::wait(&self.watch.job);
        let job = self.watch.job.clone();
        let outcome = span.around(self.run_within(deadline, &span)).await;
        outcome
            .map_err(|error| error.with_job(Some(job)))
            // The generation was queued, whatever a request after that says.
            .map_err(|error| if creates { error.with_outcome(Outcome::Done) } else { error })
            .inspect_err(|error| span.failed(error))
    }

    async fn run_within(
        mut self,
        deadline: Option<Instant>,
        span: &Span,
    ) -> Result<FinishedGeneration, Error> {
        while let Some(change) = self.next().await {
            let status = change?;
            span.changed(&status);
            (self.on_change)(&status);
            match self.watch.polling.end(&status.state) {
                Some(true) => {
                    let found = self.find_output(&status, deadline).await;
                    let prompts =
                        found.map_err(|error| error.with_last_status(Some(status.clone())))?;
                    return Ok(FinishedGeneration { status, prompts });
                }
                Some(false) => return Err(Error::job_failed(self.watch.job.clone(), status)),
                None => {}
            }
        }
        // A watch ends only after one of the above.
        Err(self.watch.timed_out())
    }

    /// Looks for the output several times, since a service may show it a little later.
    async fn find_output(
        &mut self,
        status: &GenerationStatus,
        deadline: Option<Instant>,
    ) -> Result<Vec<Prompt>, Error> {
        const ATTEMPTS: u32 = 4;
        let mut problem = "the time for the wait ended before it was looked for".to_owned();
        let looking = async {
            let mut attempt = 1;
            loop {
                match output::find(&self.watch.context, status, &self.output).await {
                    Ok(Evidence::Present(prompts)) => return Ok(Some(prompts)),
                    Ok(Evidence::Unclear(place)) => {
                        problem = place;
                        attempt += 1;
                    }
                    Ok(Evidence::Absent) => attempt += 1,
                    // Retried until the deadline, as polls are.
                    Err(error) if error.is_retryable() => problem = error.to_string(),
                    Err(error) => return Err(error),
                }
                if attempt > ATTEMPTS {
                    return Ok(None);
                }
                sleep(self.watch.delay(None)).await;
            }
        };
        let found = until(deadline, looking).await.unwrap_or(Ok(None))?;
        found
            .ok_or_else(|| Error::output_not_found(self.watch.job.clone(), status.clone(), problem))
    }
}

options!(['a] Wait<'a>, watch.context);
awaitable!(['a] Wait<'a>, 'a -> FinishedGeneration, Wait::run);

debug!(Wait<'_>, |it| watch = it.watch);

/// A completed generation with its output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
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
