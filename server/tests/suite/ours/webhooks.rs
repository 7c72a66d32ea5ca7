//! Webhooks (S-42): who manages them, what is refused, and that a receiver gets them.

use crate::prelude::*;
use crate::receiver::{Answer, Receiver};

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    scenario! { "webhooks.create.answer" ["S-42"] created,
        "POST /webhooks is 201 with the record and the secret, which no later answer has" },
    scenario! { "webhooks.change" ["S-42"] changed,
        "PATCH changes what it names; DELETE removes the webhook" },
    scenario! { "webhooks.fields" ["S-42", "S-67"] fields,
        "Faulty fields are 400 naming the field; types 415, large bodies 413" },
    scenario! { "webhooks.access" ["S-42"] [ReadOnlyKey] access,
        "Every call needs a session or a key that writes; of a page of another site it is 403" },
    scenario! { "webhooks.absent" ["S-42", "S-57"] [OtherAccount] absent,
        "Webhooks of another account, and absent ones, are 404 for every call" },
    scenario! { "webhooks.methods" ["S-42", "S-61"] methods, "Other methods are 405" },
    scenario! { "webhooks.delivery" ["S-42"] delivered,
        "After 500 an event arrives again, signed; retry, rotate-secret and test answer 200" },
];

const ELSEWHERE: &str = "https://receiver.example/hook";

/// A webhook that the scenario has made. It is deleted at the end.
struct Hook {
    wire: Wire,
    id: i64,
    answer: ApiResponse,
}

impl Hook {
    async fn make(wire: Wire, body: Value) -> Result<Self> {
        let is_private = body["url"].as_str().is_some_and(|url| url.starts_with("http:"));
        let answer = wire.post("/webhooks", body).await?;
        let is_refused = is_private && answer.status_code() == 400;
        skip_unless(!is_refused, "the target sends only to public addresses")?;
        answer.status(201)?;
        Ok(Self { id: answer.integer("/data/id")?, wire, answer })
    }

    fn path(&self, rest: &str) -> String {
        format!("/webhooks/{}{rest}", self.id)
    }

    fn secret(&self) -> Result<&str> {
        self.answer.string("/data/secret")
    }

    async fn delete(&self) -> Result {
        self.wire.delete(&self.path("")).await?.equals("/data/deleted", true).map(drop)
    }

    /// The deliveries when none waits and the one of `job` is there. The account has other jobs.
    async fn settled(&self, case: &Case, job: &str) -> Result<Vec<Value>> {
        case.until("no delivery that waits", Duration::from_secs(60), || async move {
            let page = self.wire.get(&self.path("/deliveries?limit=100")).await?;
            let all = page.status(200)?.array("/data")?;
            let is_over = all.iter().all(|one| one["status"] != "pending");
            let is_there = all.iter().any(|one| one["clientJobId"] == job);
            Ok(Some(all).filter(|_| is_over && is_there))
        })
        .await
    }
}

/// Skips where the target cannot reach a receiver on this machine.
fn receiver(
    case: &Case,
    answer: impl Fn(usize) -> Answer + Send + Sync + 'static,
) -> Result<Receiver> {
    let host = case.target().config().base_url.host_str().unwrap_or_default().to_owned();
    let is_here = matches!(&*host, "127.0.0.1" | "localhost" | "[::1]");
    skip_unless(is_here, "the target may not reach a receiver on this machine")?;
    Ok(Receiver::start(answer))
}

async fn created(case: Case) -> Result {
    let hook = Hook::make(case.wire(), json!({ "url": ELSEWHERE, "description": null })).await?;
    hook.answer.equals("/data/url", ELSEWHERE)?.equals("/data/enabled", true)?;
    hook.answer.equals("/data/events", ["generation.completed", "generation.failed"])?;
    hook.answer.timestamp("/data/createdAt")?;
    let secret = hook.secret()?;
    hook.answer.ensure(secret.starts_with("whsec_"), "a secret", secret)?;
    for path in ["/webhooks".to_owned(), hook.path("")] {
        hides(hook.wire.get(&path).await?.status(200)?, secret)?;
    }
    let list = hook.wire.get("/webhooks").await?;
    list.entry(hook.id)?;
    hook.delete().await
}

async fn changed(case: Case) -> Result {
    let hook = Hook::make(Session::wire(&case)?, json!({ "url": ELSEWHERE })).await?;
    let body = json!({ "events": ["generation.failed"], "enabled": false, "description": "d" });
    let changed = hook.wire.patch(&hook.path(""), body).await?;
    changed.status(200)?.equals("/data/url", ELSEWHERE)?.equals("/data/enabled", false)?;
    changed.equals("/data/events", ["generation.failed"])?.equals("/data/description", "d")?;
    let enabled = hook.wire.patch(&hook.path(""), json!({ "enabled": true })).await?;
    enabled.equals("/data/disabledReason", None::<&str>)?;
    hook.delete().await?;
    hook.wire.get(&hook.path("")).await?.status(404).map(drop)
}

async fn fields(case: Case) -> Result {
    let hook = Hook::make(case.wire(), json!({ "url": ELSEWHERE })).await?;
    let targets = [(Method::POST, "/webhooks".to_owned()), (Method::PATCH, hook.path(""))];
    for (method, path) in targets {
        for (field, value) in [
            ("url", json!("ftp://receiver.example/")),
            ("url", json!("https://u:p@receiver.example/")),
            ("url", json!(7)),
            ("description", json!("d".repeat(201))),
            ("events", json!([])),
            ("events", json!(["vault.shared"])),
        ] {
            let mut body = json!({ "url": ELSEWHERE });
            body[field] = value;
            let reply = hook.wire.call(method.clone(), &path).json(&body).send().await?;
            reply.is_bad_request_naming(field, &body)?;
        }
        let call = || hook.wire.call(method.clone(), &path);
        call().body("text/plain", "{}").send().await?.status(415)?;
        let large = vec![b' '; (4 << 20) + 1];
        call().body("application/json", large).send().await?.status(413)?;
    }
    hook.wire.post("/webhooks", json!({})).await?.is_bad_request_naming("url", "no url")?;
    let page = hook.wire.get(&hook.path("/deliveries?cursor=x")).await?;
    page.is_bad_request_naming("cursor", "no cursor")?;
    hook.delete().await
}

/// Every call, with a body where it has one.
fn calls(hook: &Hook) -> Vec<(Method, String, Option<Value>)> {
    let url = json!({ "url": ELSEWHERE });
    let retry = format!("/deliveries/msg_{}/retry", "0".repeat(32));
    vec![
        (Method::GET, hook.path(""), None),
        (Method::PATCH, hook.path(""), Some(json!({ "enabled": true }))),
        (Method::POST, hook.path("/rotate-secret"), None),
        (Method::POST, hook.path("/test"), None),
        (Method::GET, hook.path("/deliveries"), None),
        (Method::POST, hook.path(&retry), None),
        (Method::DELETE, hook.path(""), None),
        (Method::GET, "/webhooks".to_owned(), None),
        (Method::POST, "/webhooks".to_owned(), Some(url)),
    ]
}

async fn send(
    wire: &Wire,
    (method, path, body): &(Method, String, Option<Value>),
) -> Result<ApiResponse> {
    let call = wire.call(method.clone(), path);
    let call = if let Some(body) = body { call.json(body) } else { call };
    call.send().await
}

async fn access(case: Case) -> Result {
    let hook = Hook::make(case.wire(), json!({ "url": ELSEWHERE })).await?;
    let site = http::HeaderName::from_static("sec-fetch-site");
    let elsewhere = http::HeaderValue::from_static("cross-site");
    let forged = Session::wire(&case)?.with_header(site, elsewhere);
    for call in calls(&hook) {
        send(&case.anonymous(), &call).await?.status(401)?;
        send(&case.read_only(), &call).await?.status(401)?;
        if call.0 != Method::GET {
            send(&forged, &call).await?.status(403)?;
        }
    }
    hook.delete().await
}

async fn absent(case: Case) -> Result {
    let hook = Hook::make(case.wire(), json!({ "url": ELSEWHERE })).await?;
    let foreign = Hook { wire: case.other(), id: i64::MAX, answer: hook.answer.clone() };
    for call in calls(&foreign).into_iter().take(7) {
        send(&case.wire(), &call).await?.status(404)?;
    }
    // Ids count within an account.
    let mine = case.other().get(&hook.path("")).await?;
    mine.ensure(mine.status_code() == 404 || mine.string("/data/url")? != ELSEWHERE, "404", "200")?;
    let retry = calls(&hook).remove(5);
    send(&hook.wire, &retry).await?.status(404)?;
    hook.delete().await
}

async fn methods(case: Case) -> Result {
    let hook = Hook::make(case.wire(), json!({ "url": ELSEWHERE })).await?;
    let paths: BTreeSet<_> = calls(&hook).into_iter().map(|(_, path, _)| path).collect();
    for path in paths {
        hook.wire.call(Method::PUT, &path).send().await?.status(405)?;
    }
    hook.delete().await
}

/// Which events arrive, when, and under which secrets, is tested in `server/tests/it/webhooks`.
async fn delivered(case: Case) -> Result {
    let failing = |number| Answer::Status(if number == 0 { 500 } else { 200 });
    let receiver = receiver(&case, failing)?;
    let hook = Hook::make(case.wire(), json!({ "url": receiver.url("/") })).await?;
    let job = case.name("told");
    let body = json!({ "modelId": "local/fail", "prompt": "p", "clientJobId": job });
    hook.wire.post("/generations", body).await?.status(202)?;
    let ended = hook.settled(&case, &job).await?;
    let all = receiver.all();
    // The first event got the 500, whichever job it is of.
    let failed = all[0].id();
    let attempts = all.iter().filter(|one| one.id() == failed).count();
    check::ensure(attempts >= 2, "an attempt after the 500", attempts.to_string())?;
    let signed = all.iter().all(|one| hook.secret().is_ok_and(|it| one.is_signed_by(it)));
    check::ensure(signed, "a signature of the secret", "another one")?;
    let delivery = ended.iter().find(|one| one["id"] == failed);
    check::ensure(delivery.is_some_and(|one| one["status"] == "delivered"), "delivered", "not so")?;
    let again = format!("/deliveries/{failed}/retry");
    for call in [&*again, "/rotate-secret", "/test"] {
        hook.wire.post_empty(&hook.path(call)).await?.status(200)?;
    }
    hook.settled(&case, &job).await?;
    hook.delete().await
}
