//! A generation, its progress, and its images as files.
//!
//! ```console
//! $ cargo run --example generate_and_wait
//! $ cargo run --example generate_and_wait -- "A lighthouse in fog"
//! $ cargo run --example generate_and_wait -- "A lighthouse in fog" local/slow
//! ```
//!
//! Without `PROMPTARIUM_BASE_URL` it starts a reference server of its own, whose models need no
//! provider.

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use promptarium_examples::{Service, pictures};

#[tokio::main]
async fn main() -> ExitCode {
    match generate().await {
        Ok(()) => ExitCode::SUCCESS,
        #[expect(clippy::print_stderr, reason = "an example prints its error")]
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn generate() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let prompt = arguments.next().unwrap_or_else(|| "A harbour before sunrise".to_owned());
    let model = arguments.next().unwrap_or_else(pictures::image_model);
    let service = Service::find().await?;
    let generations = service.client.generations();

    println!("{prompt}, by {model}");
    let create = generations.create(model, prompt).aspect_ratio("3:2").batch_count(2);
    // The id is known before anything is sent. With it any process can wait for the job:
    // `generations.wait(id)`.
    println!("job {}", create.job_id());
    let start = Instant::now();
    let finished = create
        .and_wait()
        .timeout(Duration::from_secs(120))
        .on_change(|status| {
            println!("{:>6.2} s  {}", start.elapsed().as_secs_f64(), status.state);
        })
        .await?;

    for prompt in &finished.prompts {
        println!("saved as prompt {}: {}", prompt.id, prompt.title);
    }
    let folder = pictures::folder("generate_and_wait")?;
    for file in pictures::save(&service.client, finished.images(), &folder).await? {
        println!("{}", file.display());
    }
    Ok(())
}
