//! The tour: vaults, prompts, streams, pins, moves, forks, patches, errors that
//! help, an upload, and a generation that ends as pictures in a folder.
//!
//! ```console
//! $ cargo run --example quickstart
//! ```
//!
//! It starts a reference server of its own, in memory. Set
//! `PROMPTARIUM_BASE_URL` and `PROMPTARIUM_API_KEY` to take the tour on another
//! service, and `PROMPTARIUM_IMAGE_MODEL` to name a model it has; all that can be
//! deleted there the tour deletes again.
//!
//! With `-- --keep-running` it deletes nothing, prints a link to the dashboard of its
//! own server, and ends with Ctrl-C.

#![expect(clippy::print_stdout, reason = "the tour is told to a person")]

use std::error::Error;

use futures::TryStreamExt as _;
use promptarium::{AssetUrl, Client, PromptId, PromptType, UploadSource, VaultId, Visibility};
use promptarium_examples::{Service, pictures};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Result {
    let keep_running = match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [flag] if flag == "--keep-running" => true,
        _ => return Err("quickstart takes no arguments but --keep-running".into()),
    };
    let service = Service::find().await?;
    println!("Promptarium quickstart, on {}", service.told());
    let client = &service.client;

    let (landscapes, portraits) = vaults(client).await?;
    let prompts = prompts(client, landscapes).await?;
    streams(client, landscapes).await?;
    pins_and_moves(client, landscapes, portraits).await?;
    let copy = fork(client, landscapes).await?;
    patches(client, prompts[0]).await?;
    errors(client).await?;
    let harbour = upload(client).await?;
    generate(client, &harbour, landscapes).await?;
    if keep_running {
        return dashboard(&service).await;
    }
    tidy_up(client, &[landscapes, portraits, copy]).await?;

    println!(
        "\nThat was the tour. Next: `cargo run --example list_all`, and the docs in sdk/README.md."
    );
    Ok(())
}

async fn vaults(client: &Client) -> Result<(VaultId, VaultId)> {
    chapter("Two vaults");
    let landscapes = client
        .vaults()
        .create("Landscapes")
        .description("Wide views, few people")
        .visibility(Visibility::Unlisted)
        .await?;
    let portraits = client.vaults().create("Portraits").await?;
    for vault in client.vaults().list().await? {
        let system = if vault.is_system { ", made by the service" } else { "" };
        println!("  vault {}: {} ({}{system})", vault.id, vault.name, vault.visibility);
    }
    Ok((landscapes.id, portraits.id))
}

async fn prompts(client: &Client, vault: VaultId) -> Result<Vec<PromptId>> {
    chapter("Prompts, straight into a vault");
    let subjects = ["A harbour before sunrise", "Dunes after rain", "A lighthouse in fog"];
    let mut ids = Vec::new();
    for subject in subjects {
        let text = format!("{subject}, long exposure, muted colours");
        let prompt =
            client.prompts().create(subject, text).image("local/plasma").vault(vault).await?;
        println!("  prompt {}: {} ({})", prompt.id, prompt.title, prompt.prompt_type);
        ids.push(prompt.id);
    }
    let note = client.prompts().create("Caption writer", "Write a caption of ten words").await?;
    client.prompts().save(note.id, vault).await?;
    println!(
        "  prompt {}: {} ({}), saved to the vault afterwards",
        note.id, note.title, note.prompt_type
    );
    ids.push(note.id);
    Ok(ids)
}

async fn streams(client: &Client, vault: VaultId) -> Result {
    chapter("A list as a stream, two to a page; the pages are fetched as you go");
    let mut images =
        client.prompts().list().vault(vault).prompt_type(PromptType::Image).page_size(2).items();
    while let Some(prompt) = images.try_next().await? {
        println!("  {} since {}", prompt.title, prompt.created_at.strftime("%H:%M:%S"));
    }
    Ok(())
}

async fn pins_and_moves(client: &Client, from: VaultId, to: VaultId) -> Result {
    chapter("Pin the oldest, move the newest");
    let contents = client.vault(from).prompts();
    let before = contents.list().await?;
    if let (Some(newest), Some(oldest)) = (before.first(), before.last()) {
        contents.pin(oldest.vault_prompt_id).await?;
        let moved = contents.move_to(newest.vault_prompt_id, to).await?;
        println!("  prompt {} is in vault {} now", moved.prompt_id, moved.target_vault_id);
    }
    for listed in contents.list().await? {
        let mark = if listed.is_pinned { "*" } else { " " };
        println!(" {mark} {}", listed.prompt.title);
    }
    Ok(())
}

async fn fork(client: &Client, source: VaultId) -> Result<VaultId> {
    chapter("Fork the vault: a private copy with prompts of its own");
    let copy = client.vaults().fork(source).await?;
    println!(
        "  vault {}: {} ({}), {} prompts",
        copy.id, copy.name, copy.visibility, copy.prompt_count
    );
    Ok(copy.id)
}

async fn patches(client: &Client, prompt: PromptId) -> Result {
    chapter("Change one field, leave the rest, clear what may be empty");
    let set =
        client.prompts().update(prompt).title("A harbour at first light").platform("print").await?;
    println!("  {}, for {}", set.title, set.platform.as_deref().unwrap_or("nothing in particular"));
    let cleared = client.prompts().update(prompt).clear_platform().await?;
    println!(
        "  {}, for {}",
        cleared.title,
        cleared.platform.as_deref().unwrap_or("nothing in particular")
    );
    Ok(())
}

async fn errors(client: &Client) -> Result {
    chapter("Errors say what to mend, every field at once");
    if let Err(error) = client.prompts().create("", "x".repeat(15_001)).await {
        println!("  {error}");
        for (field, problem) in error.field_errors() {
            println!("    {field}: {problem}");
        }
    }
    if let Err(error) = client.prompts().get(PromptId::new(i64::MAX)).await {
        println!("  {error}\n    not found? {}", error.is_not_found());
    }
    Ok(())
}

async fn upload(client: &Client) -> Result<AssetUrl> {
    chapter("Upload an image, in two steps that look like one");
    let image = client
        .uploads()
        .image(UploadSource::bytes(pictures::small_png()?))
        .on_progress(|now| println!("  {:>5} of {} bytes", now.sent, now.total))
        .await?;
    println!("  {} is live at {}", image.content_type, image.url);
    Ok(image.url)
}

async fn generate(client: &Client, base: &AssetUrl, vault: VaultId) -> Result {
    chapter("Generate from it, and wait for the pictures");
    let job = client
        .generations()
        .create(pictures::image_model(), "The same harbour by night, lanterns on the water")
        .image_input(base)
        .aspect_ratio("16:9")
        .batch_count(2)
        .vault(vault)
        .await?;
    println!("  job {}", job.client_job_id);
    let wait = client.generations().wait(&job);
    let finished = wait.on_change(|now| println!("  {}", now.status)).await?;

    let folder = pictures::folder("quickstart")?;
    for file in pictures::save(client, finished.images(), &folder).await? {
        println!("  {}", file.display());
    }
    Ok(())
}

async fn tidy_up(client: &Client, vaults: &[VaultId]) -> Result {
    chapter("Delete what the tour made");
    let mut deleted = 0;
    for &vault in vaults {
        for listed in client.vault(vault).prompts().list().await? {
            client.prompts().delete(listed.prompt.id).await?;
            deleted += 1;
        }
        client.vaults().delete(vault).await?;
    }
    println!("  {} vaults and {deleted} prompts", vaults.len());
    Ok(())
}

/// Serves until Ctrl-C.
async fn dashboard(service: &Service) -> Result {
    let server = service.embedded.as_ref().ok_or("--keep-running is for the tour's own server")?;
    chapter("The dashboard");
    println!("  {}", server.sign_in_url().await?);
    println!("  The link signs you in once. Ctrl-C ends the server and everything in it.");
    Ok(tokio::signal::ctrl_c().await?)
}

fn chapter(title: &str) {
    println!("\n{title}");
}
