//! Tests of your own code without a server: scripted answers, fixtures, and Tokio's paused clock.
//! Copy the tests at the end.
//!
//! ```console
//! $ cargo test --example testing_your_code
//! $ cargo run --example testing_your_code
//! ```
//!
//! It needs the feature `testing` of the SDK, and of Tokio `test-util` for the paused clock:
//!
//! ```toml
//! [dev-dependencies]
//! promptarium = { version = "0.1", features = ["testing"] }
//! tokio = { version = "1", features = ["macros", "test-util"] }
//! ```

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::time::Duration;

use promptarium::testing::{Answer, Script, client, fixture};
use promptarium::{AssetUrl, Client, Error, GenerationState};
use tokio::time::Instant;

/// The code under test: generates a book cover with a slow model, or with a fast one if that takes
/// more than two minutes or fails.
async fn cover(client: &Client, title: &str) -> Result<Option<AssetUrl>, Error> {
    let text = format!("The cover of a book: {title}");
    let slow = client.generations().create("local/slow", text.clone()).and_wait();
    let finished = match slow.timeout(Duration::from_secs(120)).await {
        Err(error) if error.is_wait_timeout() || error.is_job_failed() => {
            client.generations().create("local/plasma", text).and_wait().await?
        }
        finished => finished?,
    };
    Ok(finished.images().next().map(|image| image.url.clone()))
}

/// A service on which the job of the slow model has this state, and other jobs are completed.
fn service(slow: GenerationState) -> Script {
    let script = Script::new();
    script.post("/generations").always_with(|request| {
        let mut job = fixture::generation_job();
        job.client_job_id = request.json()["modelId"].as_str().unwrap_or_default().into();
        Answer::data(&job)
    });
    script.get("/generations/{clientJobId}/status").always_with(move |request| {
        let is_slow = request.path.contains("slow");
        let state = if is_slow { slow.clone() } else { GenerationState::Completed };
        Answer::data(&fixture::generation_status(state))
    });
    script.get("/prompts/{promptId}").always(Answer::data(&fixture::prompt()));
    script
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (script, start) = (service(GenerationState::InProgress), Instant::now());
    let url = cover(&client(&script), "Harbours").await?;
    println!("cover: {}", url.ok_or("the job has no image")?);
    println!("{} requests", script.requests().len());
    println!("{:?} of the paused clock", start.elapsed());
    script.verify()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_runs_without_an_error() {
        main().unwrap();
    }

    fn models(script: &Script) -> Vec<String> {
        let created =
            script.requests().into_iter().filter(|request| request.path == "/generations");
        created.map(|request| request.json()["modelId"].as_str().unwrap().to_owned()).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn the_cover_of_the_slow_model_is_used_if_it_is_in_time() {
        let script = service(GenerationState::Completed);
        let url = cover(&client(&script), "Harbours").await.unwrap();
        assert_eq!(url, Some(fixture::prompt_image().url));
        assert_eq!(models(&script), ["local/slow"]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_slow_model_has_two_minutes() {
        let (script, start) = (service(GenerationState::InProgress), Instant::now());
        cover(&client(&script), "Harbours").await.unwrap();
        assert_eq!(start.elapsed().as_secs(), 120);
        assert_eq!(models(&script), ["local/slow", "local/plasma"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_model_that_fails_is_replaced_at_once() {
        let (script, start) = (service(GenerationState::Failed), Instant::now());
        cover(&client(&script), "Harbours").await.unwrap();
        assert_eq!(start.elapsed(), Duration::ZERO);
        assert_eq!(models(&script), ["local/slow", "local/plasma"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_retry_waits_for_retry_after() {
        let (script, start) = (Script::new(), Instant::now());
        let busy = Answer::error(429, "slow down").retry_after(Duration::from_secs(30));
        script.post("/generations").answer(busy).answer(Answer::error(401, "no such key"));
        let error = cover(&client(&script), "Harbours").await.unwrap_err();
        assert!(error.is_unauthorized());
        assert_eq!(start.elapsed().as_secs(), 30);
        script.verify().unwrap();
    }
}
