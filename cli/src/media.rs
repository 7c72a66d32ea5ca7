//! Uploads and generations.

use std::cell::OnceCell;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use data_encoding::HEXLOWER;
use promptarium::durable::Journal;
use promptarium::{Client, FinishedGeneration, GenerationJob, GenerationRef, JobId};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use slug::slugify;

use crate::args::Generate;
use crate::config::state_folder;
use crate::failure::{Failure, INTERRUPTED, Result};
use crate::output::{App, note, one_line, progress};
use crate::{fill, find};

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
        app.item(&image, &format!("{}\n", image.url))?;
    }
    Ok(())
}

/// A generation to queue.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct NewGeneration {
    model: String,
    text: String,
    count: Option<u32>,
    #[serde(rename = "aspect_ratio")]
    ratio: Option<String>,
    #[serde(skip)]
    video: bool,
    vault: Option<String>,
}

pub(crate) async fn generate(app: &App, arguments: Generate) -> Result {
    let job = OnceCell::new();
    tokio::select! {
        // First, since it may wait for standard input, where Ctrl-C has to end the program.
        biased;
        done = queue_and_wait(app, arguments, &job) => done,
        _ = tokio::signal::ctrl_c() => {
            let id = job.get().map(|id| format!("promptarium generate --resume {id}"));
            let failure = Failure::new(INTERRUPTED, "interrupted; the job continues on the server");
            Err(failure.hint(id.unwrap_or_else(|| "the same command continues it".to_owned())))
        }
    }
}

/// Queues the generation, waits for it, and shows or downloads it.
async fn queue_and_wait(app: &App, arguments: Generate, id: &OnceCell<JobId>) -> Result {
    let client = &app.client;
    let Generate { resume, model, text, count, ratio, video, vault, output: folder } = arguments;
    let vault_id = find::vault_id(client, vault.as_deref()).await?;
    // Before anything is paid.
    if let Some(folder) = &folder {
        fs::create_dir_all(folder).map_err(Failure::file(folder))?;
    }
    let (new, job, name) = match (resume, model, text) {
        (None, Some(model), Some(text)) => {
            let text = fill::text(&text)?.trim().to_owned();
            let generation = NewGeneration { model, text, count, ratio, video, vault };
            let job = generation.submit(client).await?;
            (job.client_job_id.clone(), GenerationRef::from(job), generation.text)
        }
        (id, ..) => {
            let id = id.unwrap_or_default();
            (JobId::from(&*id), GenerationRef::from(&*id), id)
        }
    };
    let id = id.get_or_init(|| new);
    let bar = progress(None, "{spinner} {msg}, {elapsed}");
    bar.enable_steady_tick(Duration::from_millis(120));
    let wait = client.generations().wait(job).timeout(Duration::MAX);
    let wait = if let Some(vault) = vault_id { wait.vault(vault) } else { wait };
    let wait = wait.on_change(|status| bar.set_message(one_line(status.state.as_str())));
    let ended = wait.send().await;
    bar.finish_and_clear();
    let finished = ended_with(id, ended)?;
    let Some(folder) = folder else {
        let urls: String = finished.images().map(|image| format!("{}\n", image.url)).collect();
        return app.item(&finished, &urls);
    };
    let name: String = slugify(name).chars().take(40).collect();
    for image in finished.images() {
        // Of the address: the end, which is different for each picture, and the extension.
        let file = image.url.as_str().split(['?', '#']).next().unwrap_or_default();
        let file = file.rsplit('/').next().unwrap_or_default();
        let (stem, extension) = file.rsplit_once('.').unwrap_or((file, "png"));
        let end: String = stem.chars().filter(char::is_ascii_alphanumeric).take(12).collect();
        let path = folder.join(format!("{name}-{end}.{extension}"));
        let saved = client.assets().download(&image.url).max_size(u64::MAX).save(&path).await;
        let hint = || format!("promptarium generate --resume {id} -o DIR downloads them");
        saved.map_err(|error| Failure::from(error).hint(hint()))?;
        app.item(&path, &format!("{}\n", path.display()))?;
    }
    Ok(())
}

impl NewGeneration {
    /// Queues the generation, unless an interrupted run with the same arguments did.
    pub(crate) async fn submit(&self, client: &Client) -> Result<GenerationJob> {
        let Self { model, text, count, ratio, video, vault } = self;
        let vault = find::vault_id(client, vault.as_deref()).await?;
        let create = client.generations().create(model, text).set_vault(vault);
        let create = create.set_aspect_ratio(ratio.as_deref());
        let create = if let Some(count) = count { create.batch_count(*count) } else { create };
        let create = if *video { create.video() } else { create };
        let name = digest(&format!("{}\n{self:?}", client.base_url())) + ".journal";
        let path = state_folder("generations")?.join(name);
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

/// The end of a job, after which the same arguments queue a new one.
pub(crate) fn ended_with(
    job: &JobId,
    ended: std::result::Result<FinishedGeneration, promptarium::Error>,
) -> Result<FinishedGeneration> {
    let is_over = ended.as_ref().map_or_else(promptarium::Error::is_job_failed, |_| true);
    for journal in fs::read_dir(state_folder("generations")?)?.flatten().filter(|_| is_over) {
        if fs::read_to_string(journal.path()).is_ok_and(|text| text.contains(job.as_str())) {
            fs::remove_file(journal.path())?;
        }
    }
    Ok(ended?)
}

/// A name for this content.
pub(crate) fn digest(content: &str) -> String {
    HEXLOWER.encode(Sha256::digest(content).get(..16).unwrap_or_default())
}
