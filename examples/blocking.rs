//! A program without async code: prompts, a list, an upload and a generation, and what
//! to do when the service says no.
//!
//! ```console
//! $ cargo run --example blocking
//! ```
//!
//! Without `PROMPTARIUM_BASE_URL` it starts a reference server of its own.

#![expect(clippy::print_stdout, reason = "an example tells what it did")]

use std::error::Error;
use std::thread;
use std::time::Duration;

use promptarium::blocking::Client;
use promptarium::{UploadSource, VaultId};
use promptarium_examples::blocking::Service;
use promptarium_examples::pictures;

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result {
    let service = Service::find()?;
    let client = &service.client;
    let vault = client.vaults().create("Harbours").send()?.id;
    prompts(client, vault)?;
    refusals(client)?;
    generate(client, vault)?;
    tidy_up(client, vault)
}

/// Calls can come from any number of threads; a clone costs nothing.
fn prompts(client: &Client, vault: VaultId) -> Result {
    let subjects = ["A harbour before sunrise", "A harbour in fog", "A harbour at dusk"];
    thread::scope(|scope| {
        let create = |subject| {
            let call = client.prompts().create(subject, "Long exposure, muted colours");
            scope.spawn(move || call.vault(vault).send())
        };
        let threads = subjects.map(create);
        threads.into_iter().try_for_each(|thread| match thread.join() {
            Ok(created) => created.map(drop).map_err(Into::into),
            Err(_) => Err(Box::<dyn Error>::from("a thread panicked")),
        })
    })?;

    // Each page is fetched when the loop comes to it.
    let mut count = 0;
    for prompt in client.prompts().list().vault(vault).page_size(2).items() {
        let prompt = prompt?;
        println!("{:>6}  {}", prompt.id, prompt.title);
        count += 1;
    }
    println!("{count} prompts in Harbours");
    Ok(())
}

/// There is one error type, with a question for each thing to decide by.
fn refusals(client: &Client) -> Result {
    match client.prompts().create("", "Nothing to see").send() {
        Ok(prompt) => println!("stored as {}", prompt.id),
        Err(error) if error.is_invalid() => {
            for (field, text) in error.field_errors() {
                println!("{field}: {text}");
            }
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

fn generate(client: &Client, vault: VaultId) -> Result {
    let source = UploadSource::bytes(pictures::small_png()?);
    let start = client.uploads().image(source).send()?;
    println!("{} is live at {}", start.content_type, start.url);

    let generations = client.generations();
    let create = generations.create(pictures::image_model(), "The same by night");
    let job = create.image_input(&start.url).vault(vault).send()?;
    let wait = generations.wait(&job).timeout(Duration::from_secs(120));
    let finished = wait.on_change(|now| println!("  {}", now.status)).send()?;

    let folder = pictures::folder("blocking")?;
    for (at, image) in finished.images().iter().enumerate() {
        let asset = client.assets().download(&image.url).send()?;
        let file = folder.join(format!("{}.{}", at + 1, asset.extension().unwrap_or("bin")));
        std::fs::write(&file, &asset.bytes)?;
        println!("{}", file.display());
    }
    Ok(())
}

fn tidy_up(client: &Client, vault: VaultId) -> Result {
    // All of them are known before the first is deleted.
    let prompts: std::result::Result<Vec<_>, _> =
        client.prompts().list().vault(vault).items().collect();
    for prompt in prompts? {
        client.prompts().delete(prompt.id).send()?;
    }
    client.vaults().delete(vault).send()?;
    Ok(())
}
