//! A tour: vaults, prompts, lists, pins, moves, forks, updates, errors, an upload, and a generation
//! with its images as files.
//!
//! ```console
//! $ cargo run --example quickstart
//! ```
//!
//! It starts a reference server of its own, in memory. Set `PROMPTARIUM_BASE_URL` and
//! `PROMPTARIUM_API_KEY` to use another service, and `PROMPTARIUM_IMAGE_MODEL` to name one of its
//! models. It deletes the vaults and prompts that it creates.
//!
//! With `-- --keep-running` it deletes nothing, prints a link to the dashboard of its own server,
//! and runs until Ctrl-C.

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::error::Error;

use promptarium::{AssetUrl, Client, PromptId, PromptType, VaultId, Visibility};
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
    println!("Promptarium quickstart, on {}", service.place());
    let client = &service.client;

    let (landscapes, portraits) = vaults(client).await?;
    let prompts = prompts(client, landscapes).await?;
    lists(client, landscapes).await?;
    pins_and_moves(client, landscapes, portraits).await?;
    let copy = fork(client, landscapes).await?;
    updates(client, prompts[0]).await?;
    errors(client).await?;
    let harbour = upload(client).await?;
    generate(client, &harbour, landscapes).await?;
    if keep_running {
        return dashboard(&service).await;
    }
    clean_up(client, &[landscapes, portraits, copy]).await?;

    println!(
        "\nThat was the tour. To see its data in the dashboard:\n  \
         cargo run --example quickstart -- --keep-running\n\
         A server that stays: cargo run --example server. The guide of the client: sdk/README.md."
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
        let system = if vault.is_system { ", created by the service" } else { "" };
        println!("  vault {}: {} ({}{system})", vault.id, vault.name, vault.visibility);
    }
    Ok((landscapes.id, portraits.id))
}

async fn prompts(client: &Client, vault: VaultId) -> Result<Vec<PromptId>> {
    chapter("Prompts in a vault");
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

async fn lists(client: &Client, vault: VaultId) -> Result {
    chapter("A list as a stream, with pages of two");
    let mut images =
        client.prompts().list().vault(vault).prompt_type(PromptType::Image).page_size(2).items();
    while let Some(prompt) = images.try_next().await? {
        println!("  {} since {}", prompt.title, prompt.created_at.strftime("%H:%M:%S"));
    }
    Ok(())
}

async fn pins_and_moves(client: &Client, from: VaultId, to: VaultId) -> Result {
    chapter("Pin the oldest, move the newest");
    let contents = client.vault(from);
    let before = contents.list().await?;
    if let (Some(newest), Some(oldest)) = (before.first(), before.last()) {
        contents.pin(oldest.vault_prompt_id).await?;
        let moved = contents.move_to(newest.vault_prompt_id, to).await?;
        println!("  prompt {} is in vault {} now", moved.prompt_id, moved.target_vault_id);
    }
    for member in contents.list().await? {
        let mark = if member.is_pinned { "*" } else { " " };
        println!(" {mark} {}", member.title);
    }
    Ok(())
}

async fn fork(client: &Client, source: VaultId) -> Result<VaultId> {
    chapter("Fork the vault: a private copy of the vault and its prompts");
    let copy = client.vaults().fork(source).await?;
    println!(
        "  vault {}: {} ({}), {} prompts",
        copy.id, copy.name, copy.visibility, copy.prompt_count
    );
    Ok(copy.id)
}

async fn updates(client: &Client, prompt: PromptId) -> Result {
    chapter("Change a field, clear another");
    let set =
        client.prompts().update(prompt).title("A harbour at first light").platform("print").await?;
    println!("  {}, for {}", set.title, set.platform.as_deref().unwrap_or("no platform"));
    let cleared = client.prompts().update(prompt).clear_platform().await?;
    println!("  {}, for {}", cleared.title, cleared.platform.as_deref().unwrap_or("no platform"));
    Ok(())
}

async fn errors(client: &Client) -> Result {
    chapter("Errors name all invalid fields");
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
    chapter("Upload an image");
    let image = client
        .uploads()
        .image(pictures::small_png()?)
        .on_progress(|progress| println!("  {:>5} of {} bytes", progress.sent, progress.total))
        .await?;
    println!("  {} uploaded to {}", image.content_type, image.url);
    Ok(image.url)
}

async fn generate(client: &Client, base: &AssetUrl, vault: VaultId) -> Result {
    chapter("Generate two images from it");
    let create = client
        .generations()
        .create(pictures::image_model(), "The same harbour by night, lanterns on the water")
        .image_input(base)
        .aspect_ratio("16:9")
        .batch_count(2)
        .vault(vault);
    println!("  job {}", create.job_id());
    let wait = create.and_wait().on_change(|status| println!("  {}", status.state));
    let finished = wait.await?;

    let folder = pictures::folder("quickstart")?;
    for file in pictures::save(client, finished.images(), &folder).await? {
        println!("  {}", file.display());
    }
    Ok(())
}

async fn clean_up(client: &Client, vaults: &[VaultId]) -> Result {
    chapter("Delete what the tour created");
    let mut deleted = 0;
    for &vault in vaults {
        for member in client.vault(vault).list().await? {
            client.prompts().delete(member.id).await?;
            deleted += 1;
        }
        client.vaults().delete(vault).await?;
    }
    println!("  {} vaults and {deleted} prompts", vaults.len());
    Ok(())
}

/// Serves until Ctrl-C.
async fn dashboard(service: &Service) -> Result {
    let server =
        service.embedded.as_ref().ok_or("--keep-running needs the server of this program")?;
    chapter("The dashboard");
    println!("  {}", server.sign_in_url().await?);
    println!("  The link signs in once. Ctrl-C stops the server and deletes its data.");
    Ok(tokio::signal::ctrl_c().await?)
}

fn chapter(title: &str) {
    println!("\n{title}");
}
