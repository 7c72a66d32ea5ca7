//! The state and the output of a job are never guessed: a step is not the job, an input is not the
//! output, and the prompt of an earlier run is not that of this one.

use std::sync::{Arc, Mutex};

use promptarium::{Error, Timestamp, VaultId};

use super::*;

const VAULT: VaultId = VaultId::new(3);

/// A service whose statuses name no prompt, with a clock that can be set forward. Each job makes
/// one prompt at once.
#[derive(Clone)]
struct Service {
    script: Script,
    seconds_ahead: Arc<Mutex<f64>>,
}

impl Service {
    fn new(sends_date: bool) -> Self {
        let (script, members) = (Script::new(), Arc::new(Mutex::new(Vec::new())));
        let service = Self { script, seconds_ahead: Arc::default() };
        let (clock, made) = (service.clone(), members.clone());
        service.script.post(path::GENERATIONS).always_with(move |seen| {
            let mut made = made.lock().unwrap();
            let mut member = fixture::vault_prompt();
            member.prompt.id = PromptId::new(made.len() as i64 + 1);
            member.prompt.text = seen.json()["prompt"].as_str().unwrap().to_owned();
            member.prompt.created_at = clock.now();
            made.push(member);
            let answer = Answer::data(&json!({})).status(202);
            let date = clock.now().strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
            if sends_date { answer.header("date", &date) } else { answer }
        });
        let completed = Answer::data(&json!({ "status": "completed" }));
        service.script.get(path::GENERATION_STATUS).always(completed);
        let members_now = move |_: &SeenRequest| Answer::data(&*members.lock().unwrap());
        service.script.get(path::VAULT_PROMPTS).always_with(members_now);
        service
    }

    fn now(&self) -> Timestamp {
        let ahead = Duration::from_secs_f64(*self.seconds_ahead.lock().unwrap());
        Timestamp::now().checked_add(ahead).unwrap()
    }

    fn advance(&self, seconds: f64) {
        *self.seconds_ahead.lock().unwrap() += seconds;
    }

    async fn run(&self, text: &str) -> Result<Vec<i64>, Error> {
        let create = client(&self.script).generations().create("local/plasma", text).vault(VAULT);
        let finished = create.and_wait().await?;
        Ok(finished.prompts.iter().map(|prompt| prompt.id.get()).collect())
    }
}

#[tokio::test(start_paused = true)]
async fn the_second_run_of_a_text_is_not_given_the_output_of_the_first() {
    // The clock of the service is an hour ahead.
    for (ahead, pause) in [(0.0, 2.0), (3600.0, 2.0), (3600.0, 0.2), (0.0, 0.0), (0.0, 400.0)] {
        let service = Service::new(true);
        service.advance(ahead);
        assert_eq!(service.run("A harbour").await.unwrap(), [1]);
        service.advance(pause);
        match service.run("A harbour").await {
            Ok(ids) => assert_eq!(ids, [2]),
            // Within one second of the date the two cannot be told apart.
            Err(error) => assert!(error.is_output_not_found() && pause < 1.0, "{pause}: {error}"),
        }
        assert_eq!(service.run("A fox").await.unwrap(), [3]);
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_date_two_runs_of_a_text_cannot_be_told_apart() {
    let service = Service::new(false);
    assert_eq!(service.run("A harbour").await.unwrap(), [1]);
    service.advance(2.0);
    let error = service.run("A harbour").await.unwrap_err();
    assert!(error.is_output_not_found(), "{error}");
    assert!(error.to_string().contains("vault 3 has "), "{error}");
    assert_eq!(service.run("A fox").await.unwrap(), [3]);
}

#[tokio::test(start_paused = true)]
async fn more_outputs_than_were_asked_for_are_not_chosen_from() {
    let (first, second) = (Service::new(true), Service::new(false));
    for service in [first, second] {
        let client = client(&service.script);
        let create = || client.generations().create("local/plasma", "A harbour").vault(VAULT);
        let job = create().await.unwrap();
        create().await.unwrap();
        let error = client.generations().wait(&job).await.unwrap_err();
        assert!(error.is_output_not_found(), "{error}");
        assert!(error.to_string().contains(&*job.client_job_id.to_string()), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_output_is_told_from_the_input() {
    let prompts = [
        (json!({ "input": { "promptId": 5 }, "output": { "promptId": 9 } }), 9),
        (json!({ "source": { "promptId": 5 }, "result": { "promptId": 9 } }), 9),
        (json!({ "request": { "promptId": 5 }, "promptId": 9 }), 9),
        (json!({ "a": { "promptId": 5 }, "promptId": 9 }), 9),
    ];
    for (mut status, expected) in prompts {
        status["status"] = json!("completed");
        let script = Script::new();
        script.get(path::GENERATION_STATUS).always(Answer::data(&status));
        script.get(path::PROMPT).always_with(|seen| {
            let mut prompt = fixture::prompt();
            prompt.id = seen.path.rsplit('/').next().unwrap().parse::<i64>().unwrap().into();
            Answer::data(&prompt)
        });
        let finished = client(&script).generations().wait("job-1").await.unwrap();
        assert_eq!(finished.prompts[0].id, PromptId::new(expected), "{status}");
        assert_eq!(finished.prompts.len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn prompts_that_contradict_each_other_are_not_the_output() {
    for status in [
        json!({ "status": "completed", "promptId": 5, "output": { "promptId": 9 } }),
        json!({ "status": "completed", "output": [{ "promptId": 5 }, { "promptId": 9 }] }),
        json!({ "status": "completed", "input": { "promptId": 5 } }),
    ] {
        let script = Script::new();
        script.get(path::GENERATION_STATUS).always(Answer::data(&status));
        script.get(path::PROMPT).always(Answer::data(&fixture::prompt()));
        script.get(path::VAULT_PROMPTS).always(Answer::data(&Vec::<Value>::new()));
        let wait = client(&script).generations().wait("job-1").vault(VAULT);
        assert!(wait.await.unwrap_err().is_output_not_found(), "{status}");
        assert!(!script.calls().iter().any(|call| call.starts_with("GET /prompts/")));
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_outlives_a_finished_step() {
    for running in [
        json!({ "status": "processing", "outputs": [{ "status": "completed" }, { "status": "processing" }] }),
        json!({ "status": "running", "steps": [{ "status": "completed" }, { "status": "running" }] }),
        json!({ "status": "retrying", "attempts": [{ "state": "failed", "error": "first attempt timed out" }] }),
        json!({ "status": "RUNNING", "webhook": { "status": "failed" } }),
        json!({ "job": { "status": "running" }, "events": ["queued", "completed"], "lastEvent": "completed" }),
        json!({ "state": "waiting", "job": { "status": "failed" } }),
    ] {
        let running = Answer::data(&running);
        let polls = Polls::new(vec![running.clone(), running, state_answer("completed")]);
        let finished = polls.client().generations().wait("job-1").await.unwrap();
        assert_eq!((finished.prompts.len(), polls.times().len()), (1, 3));
    }
}
