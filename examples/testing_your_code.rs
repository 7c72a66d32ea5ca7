//! Tests of your own code without a service: answers from a script, models from
//! fixtures, and time that does not pass. Copy the tests at the end.
//!
//! ```console
//! $ cargo test --example testing_your_code
//! $ cargo run --example testing_your_code
//! ```
//!
//! It takes the SDK's feature `testing`, for tests only:
//!
//! ```toml
//! [dev-dependencies]
//! promptarium = { version = "0.1", features = ["testing"] }
//! ```

#![expect(clippy::print_stdout, reason = "an example tells what it did")]

use std::time::Duration;

use promptarium::testing::{Answer, Script, client, fixture};
use promptarium::{AssetUrl, Client, Error, GenerationState, path};

/// Stands for the code you want to test: a cover for a book, made by a slow model if
/// it is done in two minutes, else by a fast one.
async fn cover(client: &Client, title: &str) -> Result<Option<AssetUrl>, Error> {
    let text = format!("The cover of a book: {title}");
    let slow = client.generations().create("local/slow", text.clone()).await?;
    let wait = client.generations().wait(&slow).timeout(Duration::from_secs(120));
    let finished = match wait.await {
        Err(error) if error.is_wait_timeout() || error.is_job_failed() => {
            let fast = client.generations().create("local/plasma", text).await?;
            client.generations().wait(&fast).await?
        }
        finished => finished?,
    };
    Ok(finished.images().first().map(|image| image.url.clone()))
}

/// The service, as a test wants it: the slow job comes to this, the fast one is done.
fn service(slow: GenerationState) -> Script {
    let script = Script::new();
    script.post(path::GENERATIONS).always_with(|asked| {
        let mut job = fixture::generation_job();
        job.client_job_id = asked.json()["modelId"].as_str().unwrap_or_default().into();
        Answer::data(&job)
    });
    script.get(path::GENERATION_STATUS).always_with(move |asked| {
        let is_slow = asked.path.contains("slow");
        let state = if is_slow { slow.clone() } else { GenerationState::Completed };
        Answer::data(&fixture::generation_status(state))
    });
    script.get(path::PROMPT).always(Answer::data(&fixture::prompt()));
    script
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let script = service(GenerationState::InProgress);
    let url = cover(&client(&script), "Harbours").await?;
    println!("cover: {}", url.ok_or("the job has no image")?);
    println!("{} requests", script.requests().len());
    println!("after {:?} of a clock that nobody waited for", script.clock().elapsed());
    script.verify()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_goes_to_its_end() {
        main().unwrap();
    }

    fn models(script: &Script) -> Vec<String> {
        let created = script.requests().into_iter().filter(|asked| asked.path == path::GENERATIONS);
        created.map(|asked| asked.json()["modelId"].as_str().unwrap().to_owned()).collect()
    }

    #[tokio::test]
    async fn a_cover_that_is_done_in_time_is_taken() {
        let script = service(GenerationState::Completed);
        let url = cover(&client(&script), "Harbours").await.unwrap();
        assert_eq!(url, Some(fixture::prompt_image().url));
        assert_eq!(models(&script), ["local/slow"]);
    }

    #[tokio::test]
    async fn a_slow_model_has_two_minutes() {
        let script = service(GenerationState::InProgress);
        cover(&client(&script), "Harbours").await.unwrap();
        assert_eq!(script.clock().elapsed(), Duration::from_secs(120));
        assert_eq!(models(&script), ["local/slow", "local/plasma"]);
    }

    #[tokio::test]
    async fn a_model_that_fails_is_replaced_at_once() {
        let script = service(GenerationState::Failed);
        cover(&client(&script), "Harbours").await.unwrap();
        assert_eq!(script.clock().elapsed(), Duration::ZERO);
        assert_eq!(models(&script), ["local/slow", "local/plasma"]);
    }

    #[tokio::test]
    async fn a_service_that_asks_for_a_pause_gets_it() {
        let script = Script::new();
        let pause = Duration::from_secs(30);
        let busy = Answer::error(429, "slow down").retry_after(pause);
        script.post(path::GENERATIONS).answer(busy).answer(Answer::error(401, "no such key"));
        let error = cover(&client(&script), "Harbours").await.unwrap_err();
        assert!(error.is_unauthorized());
        assert_eq!(script.clock().slept(), [pause]);
        script.verify().unwrap();
    }
}
