//! All prompts of an account as one stream, with a filter.
//!
//! ```console
//! $ cargo run --example list_all            # all prompts
//! $ cargo run --example list_all -- image   # only those of one type
//! ```
//!
//! Without `PROMPTARIUM_BASE_URL` it starts a reference server of its own with prompts to list.

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::error::Error;

use futures::{StreamExt as _, TryStreamExt as _};
use promptarium::{Client, PromptType};
use promptarium_examples::Service;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let wanted = std::env::args().nth(1).map(|word| match PromptType::from(&*word) {
        PromptType::Unknown(_) => Err(format!("no such type: {word}; try image, text or video")),
        known => Ok(known),
    });
    let wanted = wanted.transpose()?;

    let service = Service::find().await?;
    if service.embedded.is_some() {
        fill(&service.client).await?;
    }

    // The stream owns its client: it can be stored or sent to a task. It requests a page when the
    // items of the page before are used up.
    let list = service.client.prompts().list().page_size(100).set_prompt_type(wanted);
    let mut prompts = list.items();
    let mut count = 0;
    while let Some(prompt) = prompts.try_next().await? {
        count += 1;
        if count <= 5 {
            println!("{:>6}  {:<5}  {}", prompt.id, prompt.prompt_type, prompt.title);
        }
    }
    println!("{count} prompts in all");
    Ok(())
}

async fn fill(client: &Client) -> Result<(), Box<dyn Error>> {
    futures::stream::iter(1..=250)
        .map(Ok)
        .try_for_each_concurrent(8, |n| async move {
            let create = client.prompts().create(format!("Study {n}"), "Still life, soft light");
            let create = if n % 2 == 0 { create.image("local/plasma") } else { create };
            create.await.map(drop)
        })
        .await?;
    Ok(())
}
