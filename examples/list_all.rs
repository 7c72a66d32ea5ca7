//! Every prompt of an account, as one stream, with filters.
//!
//! ```console
//! $ cargo run --example list_all            # all prompts
//! $ cargo run --example list_all -- image   # only those of one type
//! ```
//!
//! Without `PROMPTARIUM_BASE_URL` it starts a reference server of its own and
//! fills it first, so that there is something to list.

#![expect(clippy::print_stdout, reason = "a listing is to be read")]

use std::error::Error;

use futures::{StreamExt as _, TryStreamExt as _};
use promptarium::{Client, PromptType};
use promptarium_examples::Service;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let wanted = std::env::args().nth(1).map(|word| {
        PromptType::known(&word).ok_or(format!("no such type: {word}; try image, text or video"))
    });
    let wanted = wanted.transpose()?;

    let service = Service::find().await?;
    if service.embedded.is_some() {
        fill(&service.client).await?;
    }

    let mut list = service.client.prompts().list().page_size(100);
    if let Some(prompt_type) = wanted {
        list = list.prompt_type(prompt_type);
    }
    // The stream owns what it needs: it can be kept, sent to a task, or dropped
    // half way, and it asks for the next page only when the last one is used up.
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
