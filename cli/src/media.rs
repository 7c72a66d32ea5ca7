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

use crate::app::{App, Failure, INTERRUPTED, Result, USAGE, note, one_line, progress};
use crate::config::state_folder;
use crate::document::digest;
use crate::find;
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
    let finished = order.run(&app.client, job, Duration::MAX, on_change).await;
    bar.finish_and_clear();
    let (finished, id) = (finished?, job.get().map_or("", JobId::as_str));
    let shown = print(app, &order, id, &finished).await;
    forget(id)?;
    shown
}

async fn print(app: &App, order: &Order, id: &str, finished: &FinishedGeneration) -> Result {
    let Some(folder) = &order.output else {
        let urls: Vec<_> = finished.images().map(|image| image.url.as_str()).collect();
        return app.item(finished, urls.join("\n"));
    };
    let name = find::slug(order.text.as_deref().unwrap_or(id), 40);
    for (number, image) in (1..).zip(finished.images()) {
        // Job and number are different for each picture; addresses may have the same end.
        let url = Path::new(image.url.as_str().split(['?', '#']).next().unwrap_or_default());
        let extension = find::slug(url.extension().and_then(OsStr::to_str).unwrap_or("png"), 5);
        let path = folder.join(format!("{name}-{}-{number}.{extension}", find::slug(id, 12)));
        let asset = app.client.assets().download(&image.url).max_size(u64::MAX);
        let hint = || format!("promptarium generate --resume {id} -o DIR downloads them");
        asset.save(&path).await.map_err(|error| Failure::from(error).hint(hint()))?;
        app.item(&path, path.display())?;
    }
    Ok(())
}

impl Order {
    /// Queues the generation, or takes the job that it names, and waits for its end. Whoever has
    /// shown the pictures has to [`forget`] the job.
    pub(crate) async fn run(
        &self,
        client: &Client,
        job: &OnceLock<JobId>,
        timeout: Duration,
        on_change: impl FnMut(&GenerationStatus) + Send,
    ) -> Result<FinishedGeneration> {
        let vault = find::vault_id(client, self.vault.as_deref()).await?;
        let (id, wait) = match &self.job {
            Some(id) => (JobId::from(&**id), client.generations().wait(&**id)),
            None => {
                let queued = self.queue(client, vault).await?;
                (queued.client_job_id.clone(), client.generations().wait(queued))
            }
        };
        let id = job.get_or_init(|| id).as_str();
        let wait = if let Some(vault) = vault { wait.vault(vault) } else { wait };
        let ended = wait.timeout(timeout).on_change(on_change).send().await;
        if ended.as_ref().is_err_and(Error::is_job_failed) {
            forget(id)?;
        }
        Ok(ended?)
    }

    /// Queues the generation, unless an interrupted run of the same order did.
    async fn queue(&self, client: &Client, vault: Option<VaultId>) -> Result<GenerationJob> {
        let Self { model, text, count, aspect_ratio: ratio, .. } = self;
        let (Some(model), Some(text)) = (model.as_deref(), text.as_deref().map(str::trim)) else {
            return Err(Failure::new(USAGE, "model and text are required without a job"));
        };
        let create = client.generations().create(model, text).set_vault(vault);
        let create = create.set_aspect_ratio(ratio.as_deref());
        let create = if let Some(count) = count { create.batch_count(*count) } else { create };
        let order = (client.base_url(), model, text, count, ratio, vault);
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

/// From now on the same order as that of this job is a new one. Not before its pictures were shown: a
/// run that was killed until then did not show them.
pub(crate) fn forget(id: &str) -> Result {
    let name = format!("\"job\":{}", json!(id));
    for journal in fs::read_dir(state_folder("generations")?)?.flatten() {
        if fs::read_to_string(journal.path()).is_ok_and(|text| text.contains(&name)) {
            // Another run of the same order may have done it.
            let _ = fs::remove_file(journal.path());
        }
    }
    Ok(())
}
