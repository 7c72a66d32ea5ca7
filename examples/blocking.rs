//! A program without async code: prompts, a list, an upload and a generation, and an error.
//!
//! ```console
//! $ cargo run --example blocking
//! ```
//!
//! Without `PROMPTARIUM_BASE_URL` it starts a reference server of its own.

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::error::Error;
use std::thread;
use std::time::Duration;

use promptarium::{Client, VaultId};
use promptarium_examples::{Service, pictures};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result {
    // The reference server needs an async runtime. The client does not.
    let runtime = tokio::runtime::Runtime::new()?;
    let service = runtime.block_on(Service::find())?;
    let client = &service.client;
    let vault = client.vaults().create("Harbours").send_blocking()?.id;
    prompts(client, vault)?;
    errors(client)?;
    generate(client, vault)?;
    clean_up(client, vault)
}

/// Calls can come from any number of threads.
fn prompts(client: &Client, vault: VaultId) -> Result {
    let titles = ["A harbour before sunrise", "A harbour in fog", "A harbour at dusk"];
    thread::scope(|scope| {
        let create = |title| {
            let call = client.prompts().create(title, "Long exposure, muted colours").vault(vault);
            scope.spawn(move || call.send_blocking())
        };
        let threads = titles.map(create);
        threads.into_iter().try_for_each(|thread| match thread.join() {
            Ok(created) => created.map(drop).map_err(Into::into),
            Err(_) => Err(Box::<dyn Error>::from("a thread panicked")),
        })
    })?;

    // Each page is requested when the loop needs it.
    let mut count = 0;
    for prompt in client.prompts().list().vault(vault).page_size(2).items().blocking() {
        let prompt = prompt?;
        println!("{:>6}  {}", prompt.id, prompt.title);
        count += 1;
    }
    println!("{count} prompts in Harbours");
    Ok(())
}

fn errors(client: &Client) -> Result {
    match client.prompts().create("", "Nothing to see").send_blocking() {
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
    let start = client.uploads().image(pictures::small_png()?).send_blocking()?;
    println!("{} uploaded to {}", start.content_type, start.url);

    let finished = client
        .generations()
        .create(pictures::image_model(), "The same by night")
        .image_input(&start.url)
        .vault(vault)
        .and_wait()
        .timeout(Duration::from_secs(120))
        .on_change(|status| println!("  {}", status.state))
        .send_blocking()?;

    let folder = pictures::folder("blocking")?;
    for (index, image) in finished.images().enumerate() {
        let file = folder.join(pictures::file_name(index, image));
        client.assets().download(&image.url).save(&file).send_blocking()?;
        println!("{}", file.display());
    }
    Ok(())
}

fn clean_up(client: &Client, vault: VaultId) -> Result {
    for member in client.vault(vault).list().send_blocking()? {
        client.prompts().delete(member.id).send_blocking()?;
    }
    client.vaults().delete(vault).send_blocking()?;
    Ok(())
}
