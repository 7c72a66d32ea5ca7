//! Uploads and generations.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use data_encoding::HEXLOWER;
use promptarium::durable::Journal;
use promptarium::request::Wait;
use promptarium::{
    Client, Error, FinishedGeneration, GenerationJob, GenerationRef, JobId, VaultId,
};
use sha2::{Digest as _, Sha256};
use slug::slugify;

use crate::args::Generate;
use crate::config::state_folder;
use crate::failure::{Failure, Result};
use crate::fill;
use crate::find;
use crate::output::{Output, note, one_line, progress};

pub(crate) async fn upload(client: &Client, output: Output, files: &[PathBuf]) -> Result {
    for file in files {
        let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
        let bar = progress(Some(0), "{msg} [{bar:30}] {bytes} of {total_bytes}", name);
        let upload = client.uploads().image(&**file).on_progress(|progress| {
            bar.set_length(progress.total);
            bar.set_position(progress.sent);
        });
        let image = upload.await?;
        bar.finish_and_clear();
        output.item(&image, &format!("{}\n", image.url))?;
    }
    Ok(())
}

/// A generation as it was ordered.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) model: String,
    pub(crate) text: String,
    pub(crate) count: Option<u32>,
    pub(crate) ratio: Option<String>,
    pub(crate) video: bool,
    pub(crate) vault: Option<VaultId>,
}

pub(crate) async fn generate(client: &Client, output: Output, arguments: Generate) -> Result {
    let vault = find::vault_id(client, arguments.vault.as_deref()).await?;
    let Generate { resume, model, text, count, ratio, video, output: folder, .. } = arguments;
    let (id, job, name) = match (resume, model, text) {
        (None, Some(model), Some(text)) => {
            let text = fill::text(&text)?.trim().to_owned();
            let order = Order { model, text, count, ratio, video, vault };
            let job = order.submit(client).await?;
            (job.client_job_id.clone(), GenerationRef::from(job), order.text)
        }
        (resume, ..) => {
            let id = resume.unwrap_or_default();
            (JobId::from(&*id), GenerationRef::from(&*id), id)
        }
    };
    let wait = client.generations().wait(job).timeout(Duration::MAX);
    let wait = if let Some(vault) = vault { wait.vault(vault) } else { wait };
    let finished = finish(wait, &id).await?;
    match folder {
        Some(folder) => download(client, output, &finished, &folder, &name).await,
        None => {
            let urls: String = finished.images().map(|image| format!("{}\n", image.url)).collect();
            output.item(&finished, &urls)
        }
    }
}

impl Order {
    /// Queues the generation, unless an earlier run with the same order did and was interrupted.
    pub(crate) async fn submit(&self, client: &Client) -> Result<GenerationJob> {
        let Self { model, text, count, ratio, video, vault } = self;
        let create = client.generations().create(model, text).set_vault(*vault);
        let create = create.set_aspect_ratio(ratio.as_deref());
        let create = if let Some(count) = count { create.batch_count(*count) } else { create };
        let create = if *video { create.video() } else { create };
        let path = digest(&format!("{}\n{self:?}", client.base_url())) + ".journal";
        let path = state_folder(JOURNALS)?.join(path);
        match path.exists() {
            true => note("An earlier run was interrupted; asking the service for its job."),
            false => note(format!("Job {}", create.job_id())),
        }
        let journal = Journal::open(client, &path).await?;
        let job = journal.run("job", create).await.inspect_err(|error| {
            if !error.is_outcome_unknown() {
                let _ = fs::remove_file(&path);
            }
        })?;
        Ok(job)
    }
}

const JOURNALS: &str = "generations";

/// Forgets that this job was begun, since it has ended.
pub(crate) fn forget(job: &JobId) -> Result {
    let journals = fs::read_dir(state_folder(JOURNALS)?)?.flatten();
    for journal in journals.map(|entry| entry.path()) {
        if fs::read_to_string(&journal).is_ok_and(|text| text.contains(job.as_str())) {
            fs::remove_file(&journal)?;
        }
    }
    Ok(())
}

/// Waits for the end of the job.
async fn finish(wait: Wait<'_>, job: &JobId) -> Result<FinishedGeneration> {
    let bar = progress(None, "{spinner} {msg}, {elapsed}", "waiting");
    bar.enable_steady_tick(Duration::from_millis(120));
    let wait = wait.on_change(|status| bar.set_message(one_line(status.state.as_str())));
    let ended = tokio::select! {
        ended = wait.send() => ended,
        _ = tokio::signal::ctrl_c() => {
            let failure = Failure::interrupted(format!("interrupted; the job {job} goes on"));
            return Err(failure.hint(format!("promptarium generate --resume {job}")));
        }
    };
    bar.finish_and_clear();
    if ended.as_ref().map_or_else(Error::is_job_failed, |_| true) {
        forget(job)?;
    }
    Ok(ended?)
}

async fn download(
    client: &Client,
    output: Output,
    finished: &FinishedGeneration,
    folder: &Path,
    name: &str,
) -> Result {
    fs::create_dir_all(folder).map_err(Failure::file(folder))?;
    let name: String = slugify(name).chars().take(40).collect();
    for image in finished.images() {
        // Of the address: the end of the name, which is different for each, and the extension.
        let file = image.url.as_str().split(['?', '#']).next().unwrap_or_default();
        let file = file.rsplit('/').next().unwrap_or_default();
        let (stem, extension) = file.rsplit_once('.').unwrap_or((file, "png"));
        let id: String = stem.chars().filter(char::is_ascii_alphanumeric).take(12).collect();
        let path = folder.join(format!("{name}-{id}.{extension}"));
        client.assets().download(&image.url).max_size(u64::MAX).save(&path).await?;
        output.item(&path, &format!("{}\n", path.display()))?;
    }
    Ok(())
}

/// A name for this content.
pub(crate) fn digest(content: &str) -> String {
    let hash = Sha256::digest(content);
    HEXLOWER.encode(hash.get(..16).unwrap_or_default())
}
