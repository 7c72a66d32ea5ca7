//! Generations: queueing, waiting, output.

mod candidates;
mod create;
mod deadline;
pub(crate) mod evidence;
mod naming;
mod output;
mod states;
mod wait;

use std::sync::Mutex;
use std::time::Duration;

use promptarium::path;
use promptarium::testing::{Answer, Script, SeenRequest, builder, client, fixture};
use promptarium::{Client, GenerationState, Prompt, PromptId};
use serde_json::{Value, json};
use tokio::time::Instant;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use crate::stub::{envelope, prompt};

const SECOND: Duration = Duration::from_secs(1);

/// A service over sockets whose jobs go through these states, one for each poll, and stay in the
/// last; "503" is an error in place of a state.
pub(crate) async fn service(states: &'static [&'static str]) -> MockServer {
    let (server, polls) = (MockServer::start().await, Mutex::new(0));
    let answer = move |request: &Request| {
        let data = match (request.method.as_str(), request.url.path()) {
            ("POST", "/api/v1/generations") => {
                let id = request.body_json::<Value>().unwrap()["clientJobId"].clone();
                json!({ "success": true, "clientJobId": id, "providerRequestId": "r" })
            }
            (_, path) if path.ends_with("/status") => {
                let mut polls = polls.lock().unwrap();
                let state = states[states.len().min(*polls + 1) - 1];
                *polls += 1;
                match state.parse::<u16>() {
                    Ok(status) => return ResponseTemplate::new(status),
                    Err(_) => status(state),
                }
            }
            (_, "/api/v1/prompts/7") => prompt(7),
            _ => return ResponseTemplate::new(500),
        };
        ResponseTemplate::new(200).set_body_json(envelope(&data))
    };
    Mock::given(any()).respond_with(answer).mount(&server).await;
    server
}

fn status(state: &str) -> Value {
    let prompt = (state == "completed").then_some(7);
    let error = (state == "failed").then_some("no paint left");
    json!({ "clientJobId": "job-1", "status": state, "promptId": prompt, "error": error })
}

/// A script that answers status polls like this, the last one again and again, with the times of
/// the polls, and that has prompt 7.
struct Polls {
    script: Script,
    times: std::sync::Arc<Mutex<Vec<Duration>>>,
}

impl Polls {
    fn new(answers: Vec<Answer>) -> Self {
        let script = Script::new();
        let times = std::sync::Arc::new(Mutex::new(Vec::new()));
        let (noted, start) = (times.clone(), Instant::now());
        script.get(path::GENERATION_STATUS).always_with(move |_| {
            let mut noted = noted.lock().unwrap();
            noted.push(start.elapsed());
            answers[answers.len().min(noted.len()) - 1].clone()
        });
        script.get(path::PROMPT).always(Answer::data(&fixture::prompt()));
        Self { script, times }
    }

    fn states(states: &[&str]) -> Self {
        Self::new(states.iter().map(|state| state_answer(state)).collect())
    }

    fn client(&self) -> Client {
        client(&self.script)
    }

    fn times(&self) -> Vec<Duration> {
        self.times.lock().unwrap().clone()
    }
}

fn state_answer(state: &str) -> Answer {
    Answer::data(&status(state))
}

#[test]
fn a_job_is_named_by_its_id_in_any_form_or_by_itself() {
    let (generations, job) = (client(&Script::new()).generations(), fixture::generation_job());
    let id = job.client_job_id.clone();
    let watched = [
        generations.watch(id.as_str()),
        generations.watch(id.to_string()),
        generations.watch(&id),
        generations.watch(id.clone()),
        generations.watch(&job),
        generations.watch(job),
    ];
    assert!(watched.iter().all(|watch| *watch.job_id() == id));
}
