//! Waits for the end of a job, and returns its output.

use std::future::poll_fn;
#[cfg(feature = "webhook")]
use std::{pin::Pin, task::Poll, time::Duration};

#[cfg(feature = "webhook")]
use futures_core::Stream;
use futures_core::future::BoxFuture;
use serde::{Deserialize, Serialize};

use super::watch::{GenerationRef, Watching};
use super::{Polling, Polls, find_output};
use crate::call::{Call, Context, Run, require_runtime};
use crate::error::{Error, Outcome};
use crate::macros::debug;
#[cfg(feature = "webhook")]
use crate::model::WebhookEvent;
use crate::model::{GenerationJob, GenerationStatus, OutputHint, Prompt, PromptImage, VaultId};
use crate::send::evidence::Evidence;
use crate::send::timeout::until;
use crate::send::trace::Span;
use crate::time::{Instant, sleep};

type OnChange<'a> = dyn FnMut(&GenerationStatus) + Send + 'a;

#[cfg(feature = "webhook")]
type Events = Pin<Box<dyn Stream<Item = WebhookEvent> + Send>>;

/// Waits until a job has ended, and returns its output. Nothing is sent until it is awaited.
///
/// Returned by [`Generations::wait`](crate::resources::Generations::wait), and by
/// [`and_wait`](crate::request::CreateGeneration::and_wait) of a call, which then is sent first. It
/// polls as [`Watch`](crate::Watch) does. One [`timeout`](Self::timeout) bounds all of it.
///
/// # Output
///
/// The prompts that the status of the completed job names, or else those of the target vault that
/// can only be its output; see the [guide](crate::guide#waiting-for-generations).
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
pub type Wait<'a> = Call<FinishedGeneration, Waiting<'a>>;

/// A job to wait for.
pub struct Waiting<'a> {
    create: Option<Call<GenerationJob>>,
    watch: Watching,
    output: OutputHint,
    on_change: Box<OnChange<'a>>,
    #[cfg(feature = "webhook")]
    events: Option<Events>,
}

impl Polls for Waiting<'_> {
    fn polling(&mut self) -> &mut Polling {
        &mut self.watch.polling
    }
}

impl<'a> Call<FinishedGeneration, Waiting<'a>> {
    /// Calls this with the first status, each that differs from the one before, and the final one.
    /// It may borrow, unless the wait is moved to a task.
    pub fn on_change<'b>(self, on_change: impl FnMut(&GenerationStatus) + Send + 'b) -> Wait<'b> {
        Call::of(self.context, Waiting { on_change: Box::new(on_change), ..self.builder })
    }

    /// Ends the wait with the event of the job in this stream, of the account's verified events in any
    /// order. Beside it the job is polled once a minute, since an event may come late.
    #[cfg(feature = "webhook")]
    pub fn notified(mut self, events: impl Stream<Item = WebhookEvent> + Send + 'static) -> Self {
        self.builder.events = Some(Box::pin(events));
        let minute = Duration::from_secs(60);
        self.poll_interval(minute).max_poll_interval(minute)
    }

    /// The vault that takes the output, for a job that is known by its id only.
    pub fn vault(mut self, vault: VaultId) -> Self {
        self.builder.output.vault_id = Some(vault);
        self
    }

    /// The text of the generation, for a job that is known by its id only.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.builder.output.prompt = Some(text.into());
        self
    }
}

impl Waiting<'_> {
    pub(super) fn new(job: GenerationRef, create: Option<Call<GenerationJob>>) -> Self {
        Self {
            create,
            watch: Watching::new(&job),
            output: job.output,
            on_change: Box::new(|_| ()),
            #[cfg(feature = "webhook")]
            events: None,
        }
    }

    async fn next(&mut self, context: &mut Context) -> Option<Result<GenerationStatus, Error>> {
        poll_fn(|cx| {
            #[cfg(feature = "webhook")]
            while let Some(Poll::Ready(Some(event))) =
                self.events.as_mut().map(|events| events.as_mut().poll_next(cx))
            {
                let is_of_job =
                    |of: &GenerationStatus| of.client_job_id.as_ref() == Some(&self.watch.job);
                if let Some(status) = event.generation.filter(is_of_job) {
                    return Poll::Ready(Some(Ok(status)));
                }
            }
            self.watch.poll_change(context, cx)
        })
        .await
    }

    async fn wait(mut self, mut context: Context) -> Result<FinishedGeneration, Error> {
        require_runtime()?;
        let deadline = self.watch.start(&mut context);
        let creates = self.create.is_some();
        if let Some(mut create) = self.create.take() {
            let timeout = self.watch.timeout;
            create.context.options.deadline = deadline.map(|end| (end, timeout));
            let job = create.await?;
            self.watch.queued(job.client_job_id);
            let OutputHint { vault_id, prompt, .. } = self.output;
            self.output = job.output_hint.unwrap_or_default();
            self.output.vault_id = vault_id.or(self.output.vault_id);
            self.output.prompt = prompt.or(self.output.prompt);
        }
        let span = Span::wait(&self.watch.job);
        let job = self.watch.job.clone();
        let outcome = span.around(self.wait_until(deadline, context, &span)).await;
        outcome
            .map_err(|error| error.with_job(Some(job)))
            // The generation was queued, whatever a request after that says.
            .map_err(|error| if creates { error.with_outcome(Outcome::Done) } else { error })
            .inspect_err(|error| span.failed(error))
    }

    async fn wait_until(
        mut self,
        deadline: Option<Instant>,
        mut context: Context,
        span: &Span,
    ) -> Result<FinishedGeneration, Error> {
        while let Some(change) = self.next(&mut context).await {
            let status = change?;
            span.changed(&status);
            (self.on_change)(&status);
            match self.watch.polling.end(&status.state) {
                Some(true) => {
                    let found = self.find_output(&context, &status, deadline).await;
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
        context: &Context,
        status: &GenerationStatus,
        deadline: Option<Instant>,
    ) -> Result<Vec<Prompt>, Error> {
        const ATTEMPTS: u32 = 4;
        let mut problem = "the time for the wait ended before it was looked for".to_owned();
        let looking = async {
            let mut attempt = 1;
            loop {
                match find_output(context, status, &self.output).await {
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

impl<'a> Run<FinishedGeneration> for Waiting<'a> {
    type Future = BoxFuture<'a, Result<FinishedGeneration, Error>>;

    fn run(self, context: Context) -> Self::Future {
        Box::pin(self.wait(context))
    }
}

debug!(Waiting<'_>, |it| watch = it.watch);

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
