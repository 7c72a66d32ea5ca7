//! A journal of writes, for programs that are stopped at any time and started again: nothing is
//! lost, nothing is stored twice, nothing is paid twice. Feature `durable`.
//!
//! [`Journal::run`] makes one call as a step of the program, under a key that the program chooses,
//! such as the name of a file. It writes a line to the journal before the call and one after it. A
//! program that is started again runs the same steps under the same keys: a step that was carried
//! out returns its result from the journal; for a step with an open line, where the program was
//! killed or the response was lost, the service is asked before anything is sent again.
//!
//! ```no_run
//! use promptarium::durable::Journal;
//! # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
//!
//! let journal = Journal::open(&client, "import.journal").await?;
//! let image = journal.run("harbour.png", client.uploads().image("harbour.png")).await?;
//! let create = client.prompts().create("Dusk", "A harbour at dusk").image_url(image.url);
//! let prompt = journal.run("harbour.txt", create).await?;
//! # Ok(()) }
//! ```
//!
//! # Which calls are steps
//!
//! | call | what is asked | it was carried out if | it was not if |
//! |---|---|---|---|
//! | `CreateGeneration` | the status of the job, whose id is in the journal | the status has a known state or the id of the job | 404 of the API |
//! | `UploadImage` | nothing: an upload that is repeated costs nothing, and only the last one is shown | | always |
//! | `CreatePrompt` | the list of its vault, or of all prompts if it names none | there is a prompt with its title, text, type and platform | there is none like it, and no other new one |
//! | `CreateVault` | the list of vaults | there is a vault with its name, description and visibility | there is none like it, and no other new one |
//! | `ForkVault` | the list of vaults | | there is no new one |
//!
//! The other writes are no steps. To update, delete, save, add, remove, pin or unpin again has no
//! further effect, so a program that is started again repeats them. Before it repeats a
//! [`move_to`](crate::resources::VaultContents::move_to), it looks where the prompt is.
//!
//! # How an open step is resolved
//!
//! A request may still be carried out after the program that sent it was killed. So an absence
//! counts only after [`settle`](Journal::with_settle), 30 seconds by default, since the journal was
//! opened or the call failed. Until then `run` waits, and asks again.
//!
//! Texts are compared without spaces at their ends, line ends and Unicode normalization, which
//! services change. "New" is what was created since the step began, give or take five minutes, and
//! belongs to no step; by the service's own clock it is not older than the results of the steps
//! that had ended before, give or take ten seconds. A new prompt or vault that is not like the step
//! may still be its result, on a service that changes more; one that has the same letters and is
//! older may be, if a clock is wrong. Then, and if there are more like it than steps, or the
//! question is refused, the step is [ambiguous](crate::Error::is_ambiguous): nothing is sent, and
//! [`resolve`](Journal::resolve) decides. So a program needs vaults in which nobody else stores
//! prompts at the same time.
//!
//! # The file
//!
//! The file has a line of JSON for each event, which is on the disk before the call proceeds. It
//! contains the texts of prompts and the results of calls, and neither keys, tokens, upload URLs, nor
//! the URLs that a call sends. The first line has the base URL and a short hash of the part of the API
//! key that names it: another client is refused. Delete the file when its results are no longer needed.
//!
//! The journal does not see what changes a prompt or a vault afterwards: one that was deleted is not
//! created again, and one that was changed before its open step was resolved is not recognized.

mod ask;
mod file;
mod line;
mod steps;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::{Mutex, RwLock};

use self::file::{File, Header};
pub use self::line::Step;
use self::line::{Begin, Event, Kind, Line, decoded, encoded};
use self::steps::{Claim, Sending, Steps};
use crate::call::require_runtime;
use crate::client::Client;
use crate::error::{Error, Outcome};
use crate::model::{GenerationJob, Prompt, Timestamp, Vault};
use crate::resources::uploads::UploadedImage;

const SETTLE: Duration = Duration::from_secs(30);

/// A journal of writes in a file; see the [module](self).
///
/// Cheap to clone; the file is locked until the last clone is dropped. Steps may run in parallel.
#[derive(Debug, Clone)]
pub struct Journal {
    shared: Arc<Shared>,
    settle: Duration,
}

#[derive(Debug)]
struct Shared {
    client: Client,
    steps: Steps,
    file: File,
    /// Held while a prompt or vault is created, and exclusively while a list is read: every one in
    /// the list then belongs to a step that has ended, to an open step, or to none.
    creating: RwLock<()>,
    asking: Mutex<()>,
}

/// What [`Journal::recover`] found out about a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Resolved {
    /// The service carried it out: [`Journal::run`] returns the result and sends nothing.
    Done,
    /// The service did not carry it out: [`Journal::run`] sends it.
    NotDone,
    /// It cannot be told: [`Journal::run`] fails until [`Journal::resolve`] decides.
    Ambiguous,
}

/// The decision about a step whose outcome is not known.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Resolution {
    /// It was not carried out, and may be sent.
    NotDone,
    /// It created this prompt.
    Prompt(Box<Prompt>),
    /// It created this vault.
    Vault(Box<Vault>),
    /// It uploaded this image.
    Upload(Box<UploadedImage>),
    /// It queued this generation.
    Generation(Box<GenerationJob>),
}

impl Journal {
    /// Opens the journal at this path, or creates it.
    ///
    /// # Errors
    ///
    /// [`Error::is_input`] if the file cannot be read or written, is in use by another `Journal`,
    /// belongs to another base URL or API key, or has a line, other than the last, that cannot be read.
    pub async fn open(client: &Client, path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_as(client, path.as_ref(), false).await
    }

    /// As [`open`](Self::open), also for a journal of another base URL or another API key, which then
    /// belongs to these: the service has moved, or the key was replaced. The account must be the same.
    pub async fn open_moved(client: &Client, path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_as(client, path.as_ref(), true).await
    }

    async fn open_as(client: &Client, path: &Path, is_moved: bool) -> Result<Self, Error> {
        let (client, path) = (client.clone(), PathBuf::from(path));
        require_runtime()?;
        let (file, steps) = File::open(path, Header::of(&client), is_moved).await?;
        let (creating, asking) = (RwLock::default(), Mutex::default());
        let shared = Arc::new(Shared { client, steps, file, creating, asking });
        Ok(Self { shared, settle: SETTLE })
    }

    /// How long a request may still be carried out after the program that sent it was killed or gave
    /// up; 30 seconds by default.
    #[must_use]
    pub fn with_settle(mut self, settle: Duration) -> Self {
        self.settle = settle;
        self
    }

    /// Makes this call as the step with this key, unless it was carried out before.
    ///
    /// If the outcome of the call is unknown, the service is asked. So after an error that is neither
    /// [`Error::is_outcome_unknown`] nor [`Error::is_ambiguous`] the step was not carried out, and
    /// running it again sends it. If the service could not be asked, running it again asks again.
    ///
    /// # Errors
    ///
    /// Those of the call, [`Error::is_ambiguous`], and [`Error::is_input`] if the journal cannot be
    /// written, if the step is running already, or if its key was used for a call with another
    /// content, for example another title, unless that call was not carried out. URLs are not
    /// compared, and of an image only its size.
    pub async fn run<S: Step>(
        &self,
        key: impl Into<String>,
        call: S,
    ) -> Result<<S as Step>::Output, Error> {
        require_runtime()?;
        Box::pin(self.run_step(key.into(), call)).await
    }

    async fn run_step<S: Step>(
        &self,
        key: String,
        mut call: S,
    ) -> Result<<S as Step>::Output, Error> {
        let mut begin = Begin::new(S::KIND, call.content().await);
        let claim = Claim::new(&self.shared.steps, key, &begin)?;
        if let Some(value) = Box::pin(self.ask(&claim)).await? {
            return decoded(value);
        }
        let write = async |event| self.shared.write(vec![Line::new(&claim.key, event)]).await;
        let error = {
            let _permit = match S::KIND.list() {
                Some(_) => Some(self.shared.creating.read().await),
                None => None,
            };
            // Dropped before the permit.
            let _sending = Sending(&claim);
            (begin.job, begin.at) = (call.job(claim.step().begin.job), Timestamp::now());
            write(Event::Begin(begin)).await?;
            match call.into_future().await {
                Ok(output) => {
                    let written = write(Event::Done { value: encoded(&output)? }).await;
                    written.map_err(|error| error.with_outcome(Outcome::Done))?;
                    return Ok(output);
                }
                // An upload that is repeated has no further effect.
                Err(error) if !error.is_outcome_unknown() || S::KIND == Kind::Upload => {
                    write(Event::NotDone).await?;
                    error
                }
                Err(error) => error,
            }
        };
        match Box::pin(self.ask(&claim)).await {
            Ok(Some(value)) => decoded(value),
            Ok(None) => Err(error.with_outcome(Outcome::NotDone)),
            Err(asking) if asking.is_ambiguous() => Err(asking.because(error)),
            Err(_) => Err(error.with_outcome(Outcome::Unknown)),
        }
    }

    /// Resolves all open steps but those that are running, in the order in which they began, as
    /// [`run`](Self::run) does for its own. Fails if the service cannot be asked now.
    pub async fn recover(&self) -> Result<Vec<(String, Resolved)>, Error> {
        require_runtime()?;
        let mut found = Vec::new();
        // First, since one question may resolve all of them.
        let steps = &self.shared.steps;
        let claims = steps.open(|_| true).into_iter();
        let claims = claims.filter_map(|(key, _)| Claim::open(steps, &key, None).ok());
        for claim in claims.collect::<Vec<_>>() {
            let resolved = match Box::pin(self.ask(&claim)).await {
                Ok(Some(_)) => Resolved::Done,
                Ok(None) => Resolved::NotDone,
                Err(error) if error.is_ambiguous() => Resolved::Ambiguous,
                Err(error) => return Err(error),
            };
            found.push((claim.key.clone(), resolved));
        }
        Ok(found)
    }

    /// Decides about an open step, for example one that is ambiguous.
    pub async fn resolve(&self, key: &str, resolution: Resolution) -> Result<(), Error> {
        let (kind, value) = match &resolution {
            Resolution::NotDone => (None, Value::Null),
            Resolution::Prompt(prompt) => (Some(Kind::Prompt), encoded(prompt)?),
            Resolution::Vault(vault) => (Some(Kind::Vault), encoded(vault)?),
            Resolution::Upload(image) => (Some(Kind::Upload), encoded(image)?),
            Resolution::Generation(job) => (Some(Kind::Generation), encoded(job)?),
        };
        let event = kind.map_or(Event::NotDone, |_| Event::Done { value });
        require_runtime()?;
        let _claim = Claim::open(&self.shared.steps, key, kind)?;
        self.shared.write(vec![Line::new(key, event)]).await
    }
}

impl Shared {
    async fn write(&self, lines: Vec<Line>) -> Result<(), Error> {
        self.file.append(&lines).await?;
        for line in lines {
            self.steps.apply(line).map_err(Error::input)?;
        }
        Ok(())
    }
}
