//! Starts in one process and resumes in another: a list by its cursor, and a generation by its id.
//! Both are stored as text in files.
//!
//! ```console
//! $ cargo run --example resume
//! ```
//!
//! It runs itself twice, once for each half. Without `PROMPTARIUM_BASE_URL` it starts a reference
//! server of its own for both.

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use promptarium::Client;
use promptarium_examples::{Service, pictures};

type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() -> Result {
    let mut arguments = std::env::args_os().skip(1);
    let half = arguments.next();
    let folder = arguments.next().map(PathBuf::from);
    match (half.as_ref().and_then(|half| half.to_str()), folder) {
        (None, _) => both_halves().await,
        (Some("begin"), Some(folder)) => begin(&Client::from_env()?, &folder).await,
        (Some("finish"), Some(folder)) => finish(&Client::from_env()?, &folder).await,
        _ => Err("either no arguments, or begin FOLDER, or finish FOLDER".into()),
    }
}

async fn begin(client: &Client, folder: &Path) -> Result {
    let mut pages = client.prompts().list().page_size(2).pages();
    if let Some(page) = pages.next().await {
        for prompt in page? {
            println!("  {}", prompt.title);
        }
    }
    // The cursor of the next page, if there is one.
    let cursor = pages.cursor().map(ToString::to_string).unwrap_or_default();
    fs::write(folder.join("cursor"), cursor)?;

    // The id is stored before the call is sent, so the job can be found if this process crashes
    // before the response comes.
    let create = client.generations().create(pictures::image_model(), "A lighthouse in fog");
    fs::write(folder.join("job"), create.job_id().as_str())?;
    println!("  job {}", create.job_id());
    create.await?;
    Ok(())
}

async fn finish(client: &Client, folder: &Path) -> Result {
    // The filters must be those of the list that returned the cursor.
    let cursor = fs::read_to_string(folder.join("cursor"))?;
    if !cursor.is_empty() {
        let mut rest = client.prompts().list().page_size(2).cursor(cursor).items();
        while let Some(prompt) = rest.try_next().await? {
            println!("  {}", prompt.title);
        }
    }

    let job = fs::read_to_string(folder.join("job"))?;
    let finished = client.generations().wait(&*job).await?;
    println!("  job {job}: {} image", finished.images().count());
    Ok(())
}

async fn both_halves() -> Result {
    let service = Service::find().await?;
    if service.embedded.is_some() {
        for n in 1..=5 {
            service.client.prompts().create(format!("Study {n}"), "Still life").await?;
        }
    }
    let folder = std::env::temp_dir().join(format!("promptarium-resume-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    for half in ["begin", "finish"] {
        let mut itself = Command::new(std::env::current_exe()?);
        if let Some(server) = &service.embedded {
            itself.env("PROMPTARIUM_BASE_URL", server.base_url());
            itself.env("PROMPTARIUM_API_KEY", server.api_key());
        }
        let output = itself.arg(half).arg(&folder).output()?;
        print!("{half}, in a process of its own\n{}", String::from_utf8_lossy(&output.stdout));
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
    }
    fs::remove_dir_all(folder)?;
    Ok(())
}
