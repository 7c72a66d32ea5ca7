//! Uploads and generations.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use promptarium::durable::Journal;
use promptarium::{
    Client, Error, FinishedGeneration, GenerationJob, GenerationStatus, JobId, VaultId,
};
use serde::Deserialize;
use serde_json::json;

use crate::config::state_folder;
use crate::document::digest;
use crate::failure::{Failure, INTERRUPTED, Result, USAGE};
use crate::find;
use crate::output::{App, note, one_line, progress};
use crate::prompts::text;

pub(crate) async fn upload(app: &App, files: &[PathBuf]) -> Result {
    for file in files {
        let bar = progress(Some(0), "{msg} [{bar:30}] {bytes} of {total_bytes}");
        bar.set_message(one_line(&file.display().to_string()));
        let upload = app.client.uploads().image(&**file).on_progress(|progress| {
            bar.set_length(progress.total);
            bar.set_position(progress.sent);
        });
        let image = upload.await?;
        bar.finish_and_clear();
        app.item(&image, &image.url)?;
    }
    Ok(())
}

/// A generation, as the command line or the call of a tool orders it.
#[derive(Default, clap::Args, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Order {
    /// The model, such as local/plasma.
    #[arg(required_unless_present = "job")]
    model: Option<String>,
    /// What to show: the text, @FILE, or - for standard input.
    #[arg(required_unless_present = "job")]
    text: Option<String>,
    /// How many, 1 to 4.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=4))]
    count: Option<u32>,
    /// The aspect ratio, such as 16:9.
    #[arg(long = "ratio", value_name = "RATIO")]
    aspect_ratio: Option<String>,
    /// A video in place of pictures.
    #[arg(long)]
    #[serde(skip)]
    video: bool,
    /// The vault that takes them.
    #[arg(long)]
    vault: Option<String>,
    /// Download them to this folder.
    #[arg(short, long, value_name = "DIR")]
    #[serde(skip)]
    output: Option<PathBuf>,
    /// Wait for a job that was started before.
    #[arg(long = "resume", value_name = "ID", conflicts_with_all = ["model", "text"])]
    job: Option<String>,
}

pub(crate) async fn generate(app: &App, order: Order) -> Result {
    let job = OnceLock::new();
    tokio::select! {
        // First, since it may wait for standard input, where Ctrl-C has to end the program.
        biased;
        done = show(app, order, &job) => done,
        _ = tokio::signal::ctrl_c() => {
            let id = job.get().map(|id| format!("promptarium generate --resume {id}"));
            let failure = Failure::new(INTERRUPTED, "interrupted; the job continues on the server");
            Err(failure.hint(id.unwrap_or_else(|| "the same command continues it".to_owned())))
        }
    }
}

/// Carries the order out, and prints the addresses of the pictures, or downloads them.
async fn show(app: &App, mut order: Order, job: &OnceLock<JobId>) -> Result {
    // Before anything is paid.
    if let Some(folder) = &order.output {
        fs::create_dir_all(folder).map_err(Failure::file(folder))?;
    }
    order.text = order.text.as_deref().map(text).transpose()?;
    let bar = progress(None, "{spinner} {msg}, {elapsed}");
    bar.enable_steady_tick(Duration::from_millis(120));
    let on_change = |status: &GenerationStatus| bar.set_message(one_line(status.state.as_str()));
    let show = async |finished: FinishedGeneration| {
        bar.finish_and_clear();
        if let Some(folder) = &order.output {
            let id = job.get().map_or("ID", JobId::as_str);
            return download(app, folder, order.text.as_deref(), id, &finished).await;
        }
        let urls: Vec<_> = finished.images().map(|image| image.url.as_str()).collect();
        app.item(&finished, urls.join("\n"))
    };
    let shown = order.run(&app.client, job, Duration::MAX, on_change, show).await;
    bar.finish_and_clear();
    shown
}

/// Downloads the pictures. Job and number are different for each one; addresses may have the same
/// end.
async fn download(
    app: &App,
    folder: &Path,
    text: Option<&str>,
    id: &str,
    finished: &FinishedGeneration,
) -> Result {
    let name = format!("{}-{}", find::slug(text.unwrap_or(id), 40), find::slug(id, 12));
    for (number, image) in (1..).zip(finished.images()) {
        let file = Path::new(image.url.as_str().split(['?', '#']).next().unwrap_or_default());
        let extension = file.extension().and_then(OsStr::to_str).unwrap_or("png");
        let path = folder.join(format!("{name}-{number}.{}", find::slug(extension, 5)));
        let asset = app.client.assets().download(&image.url).max_size(u64::MAX);
        let hint = || format!("promptarium generate --resume {id} -o DIR downloads them");
        asset.save(&path).await.map_err(|error| Failure::from(error).hint(hint()))?;
        app.item(&path, path.display())?;
    }
    Ok(())
}

impl Order {
    /// Queues the generation, or takes the job that it names, waits for the end, and shows it.
    pub(crate) async fn run<T>(
        &self,
        client: &Client,
        job: &OnceLock<JobId>,
        timeout: Duration,
        on_change: impl FnMut(&GenerationStatus) + Send,
        show: impl AsyncFnOnce(FinishedGeneration) -> Result<T>,
    ) -> Result<T> {
        let vault = find::vault_id(client, self.vault.as_deref()).await?;
        let (id, wait) = match &self.job {
            Some(id) => (JobId::from(&**id), client.generations().wait(&**id)),
            None => {
                let queued = self.queue(client, vault).await?;
                (queued.client_job_id.clone(), client.generations().wait(queued))
            }
        };
        let name = format!("\"job\":{}", json!(id));
        let _ = job.set(id);
        let wait = if let Some(vault) = vault { wait.vault(vault) } else { wait };
        let ended = wait.timeout(timeout).on_change(on_change).send().await;
        let is_over = ended.as_ref().map_or_else(Error::is_job_failed, |_| true);
        let shown = match ended {
            Ok(finished) => show(finished).await,
            Err(error) => Err(error.into()),
        };
        // From now on the same order is a new one, and not before: a run that was killed while it
        // showed the pictures did not show them.
        for journal in fs::read_dir(state_folder("generations")?)?.flatten().filter(|_| is_over) {
            if fs::read_to_string(journal.path()).is_ok_and(|text| text.contains(&name)) {
                // Another run of the same order may have done it.
                let _ = fs::remove_file(journal.path());
            }
        }
        shown
    }

    /// Queues the generation, unless an interrupted run of the same order did.
    async fn queue(&self, client: &Client, vault: Option<VaultId>) -> Result<GenerationJob> {
        let Self { model, text, count, aspect_ratio: ratio, video, .. } = self;
        let (Some(model), Some(text)) = (model.as_deref(), text.as_deref().map(str::trim)) else {
            return Err(Failure::new(USAGE, "model and text are required without a job"));
        };
        let create = client.generations().create(model, text).set_vault(vault);
        let create = create.set_aspect_ratio(ratio.as_deref());
        let create = if let Some(count) = count { create.batch_count(*count) } else { create };
        let create = if *video { create.video() } else { create };
        let order = (client.base_url(), model, text, count, ratio, video, vault);
        let path = state_folder("generations")?.join(digest(&format!("{order:?}")) + ".journal");
        match path.exists() {
            true => note("An earlier run was interrupted; asking the service for its job."),
            false => note(format!("Job {}", create.job_id())),
        }
        let queued = Journal::open(client, &path).await?.run("job", create).await;
        if queued.as_ref().is_err_and(|error| !error.is_outcome_unknown()) {
            let _ = fs::remove_file(&path);
        }
        Ok(queued?)
    }
}
