//! Jobs at a provider that fails for hours of the injected time, on both stores.

use std::collections::BTreeMap;

use data_encoding::BASE64;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use super::*;
use crate::generate::queue::{self, QueueSetting};
use crate::generate::submit::Submitter;
use crate::generate::worker::{StepOutcome, Worker};
use crate::limits::{JOB_LEASE, JOB_RETRY_DELAY_MAX};
use crate::store::contract_tests::StoreUnderTest;

const HOUR: Duration = Duration::from_secs(3600);
const TICK: Duration = Duration::from_secs(10);

/// How many orders there were, when the last one came, and the requests since.
type Orders = (usize, Timestamp, usize);

/// Each name of a model is a way to fail.
#[derive(Clone)]
struct Unreliable {
    clock: ManualClock,
    origin: String,
    /// Of each model.
    orders: Arc<Mutex<BTreeMap<String, Orders>>>,
}

impl Unreliable {
    async fn start(server: &MockServer, clock: ManualClock) -> Self {
        let this = Self { clock, origin: server.uri(), orders: Arc::default() };
        Mock::given(any()).respond_with(this.clone()).mount(server).await;
        this
    }
}

impl Respond for Unreliable {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let path = request.url.path();
        let (model, last) = (path.split('/').nth(2).unwrap(), path.rsplit('/').next().unwrap());
        let url = |last: &str| format!("{}/acme/{model}/{last}", self.origin);
        let json = |body: Value| ResponseTemplate::new(200).set_body_json(body);
        let error = |status| ResponseTemplate::new(status).set_body_string("<h1>Later</h1>");
        let now = Clock::Manual(self.clock.clone()).now();
        let mut orders = self.orders.lock().unwrap();
        let order = orders.entry(model.to_owned()).or_insert((0, now, 0));
        if request.method == http::Method::POST {
            *order = (order.0 + 1, now, 0);
            return json(json!({
                "request_id": format!("r-{model}"),
                "status_url": url("status"),
                "response_url": url("result"),
            }));
        }
        order.2 += 1;
        let hours = now.duration_since(order.1).as_hours();
        match (model, last) {
            ("erring", _) if hours < 5 => {
                let statuses = [500, 502, 429, 503, 401, 504, 403, 408, 200];
                error(statuses[order.2 % statuses.len()])
            }
            ("busy", "status") if hours < 2 => error(429).insert_header("retry-after", "900"),
            ("late-result", "result") if hours < 3 => error(503),
            ("late-file", "2.png") if hours < 3 => error(404),
            ("refusing", "status") => json(json!({"status": "COMPLETED", "error": "no"})),
            (_, "status") => json(json!({"status": "COMPLETED"})),
            (_, "result") => {
                let data = format!("data:image/png;base64,{}", BASE64.encode(&png(32, 18)));
                let urls = match model {
                    "embedded" => [data.clone(), data],
                    _ => [url("1.png"), url("2.png")],
                };
                json(json!({"images": urls.map(|url| json!({"url": url}))}))
            }
            _ => ResponseTemplate::new(200).set_body_raw(png(32, 18), "image/png"),
        }
    }
}

/// A model, after how many hours its jobs end, and how: with two images, or with a reason.
const JOBS: [(&str, u32, Result<usize, &str>); 7] = [
    ("good", 0, Ok(2)),
    ("erring", 5, Ok(2)),
    ("busy", 2, Ok(2)),
    ("late-result", 3, Ok(2)),
    ("late-file", 3, Ok(2)),
    ("embedded", 0, Ok(2)),
    ("refusing", 0, Err("no")),
];

async fn each_job_ends_right_and_was_sent_once(db: StoreUnderTest) {
    let server = MockServer::start().await;
    let provider = Unreliable::start(&server, db.clock.clone()).await;
    let setting = QueueSetting::new(&provider.origin, "the-key").unwrap();
    let client = queue::open(setting).unwrap();
    let submitter = Submitter::new(db.store.clone(), client.clone(), assets());
    let worker = Worker {
        store: db.store.clone(),
        provider: client,
        outputs: output_store(Blobs::in_memory()),
        clock: Clock::Manual(db.clock.clone()),
        settings: JobSettings::default(),
        activity: Arc::default(),
    };
    let alice = db.caller("alice").await;
    for (model, ..) in JOBS {
        let request = GenerationRequest {
            model_id: format!("acme/{model}").into(),
            batch_count: 2,
            ..request(model)
        };
        let job = NewJob { request: request.into(), ..new_job(model, model, None) };
        submitter.submit(&alice, job.clone(), ()).await.unwrap();
        submitter.submit(&alice, job, ()).await.unwrap();
    }

    let mut ended = BTreeMap::new();
    let mut time = Duration::ZERO;
    while ended.len() < JOBS.len() && time < 6 * HOUR {
        match db.store.claim_job(JOB_LEASE, &Turn::default()).await.unwrap() {
            Some(claim) => {
                let name = claim.job.key.client_job_id.to_string();
                let step = worker.step(claim, std::future::pending()).await.unwrap();
                if matches!(step, StepOutcome::Completed | StepOutcome::Failed) {
                    assert_eq!(ended.insert(name, time), None);
                }
            }
            None => {
                db.clock.advance(TICK);
                time += TICK;
            }
        }
    }

    let contents = db.contents(&alice, db.general(&alice).await.id).await;
    assert_eq!(contents.len(), JOBS.len() - 1);
    let orders = provider.orders.lock().unwrap().clone();
    for (model, hours, outcome) in JOBS {
        let end = *ended.get(model).unwrap_or_else(|| panic!("{model} does not end"));
        // The last pause is the longest, or 15 minutes.
        let due = hours * HOUR;
        let late = if model == "busy" { HOUR / 4 } else { JOB_RETRY_DELAY_MAX };
        assert!((due..=due + late + TICK).contains(&end), "{model}: {end:?}");
        let state = db.store.job(&alice, model).await.unwrap().state;
        match (state, outcome) {
            (JobState::Completed(_, prompt), Ok(count)) => {
                let prompt = db.store.prompt(&alice, prompt).await.unwrap();
                assert_eq!((&*prompt.title, prompt.images.len()), (model, count));
            }
            (JobState::Failed(Some(_), reason), Err(expected)) => assert_eq!(&*reason, expected),
            (state, _) => panic!("{model}: {state:?}"),
        }
        let (count, _, requests) = orders[model];
        assert_eq!(count, 1, "{model}");
        // A status, a result and two files, after an attempt every five minutes at the least.
        let most = if model == "busy" { 12 } else { 4 * (12 + 12 * hours as usize) };
        assert!(requests <= most, "{model}: {requests}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_job_ends_right_and_was_sent_once_in_memory() {
    each_job_ends_right_and_was_sent_once(StoreUnderTest::memory()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_job_ends_right_and_was_sent_once_in_postgres() {
    each_job_ends_right_and_was_sent_once(StoreUnderTest::postgres().await).await;
}
