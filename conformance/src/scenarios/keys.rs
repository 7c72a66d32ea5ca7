//! API keys: their form, and that no key makes another. What a browser session may do with them
//! is in the files below.

mod life;
mod session;

use http::HeaderValue;

use super::auth::main_key;
use crate::scenarios::endpoints::{refusals, successes};
use crate::scenarios::prelude::*;

pub(super) const ALL: &[&[Scenario]] = &[OF_A_KEY, session::ALL, life::ALL];

#[rustfmt::skip]
const OF_A_KEY: &[Scenario] = &[
    core! { reads "keys.form.parts" ["KE-01"] parts,
        "A key has the form vendor, live, public id and secret, joined by underscores" },
    core! { reads "keys.form.whole" ["KE-02"] whole,
        "The token is the whole key: without its prefix it is answered 401" },
    core! { "keys.secret.never-shown" ["KE-04"] never_shown,
        "No answer to a call with a key shows the secret part of the key" },
    core! { "keys.create.not-with-a-key" ["KE-05"] |case| refused(case, Case::wire),
        "POST /api-keys with an API key is refused" },
    core! { "keys.create.not-with-a-read-only-key" ["KE-05"] [ReadOnlyKey]
        |case| refused(case, Case::read_only),
        "POST /api-keys with a key without prompts:write is refused" },
    core! { "keys.create.not-without-a-key" ["KE-05"] |case| refused(case, Case::anonymous),
        "POST /api-keys with neither session nor key is refused" },
    reference! { "keys.create.status" ["KE-05"] ("S-46") [ReadOnlyKey] status,
        "Creating, listing and revoking keys without a session answer 401 with or without a key" },
    reference! { reads "keys.form.alphabet" ["KE-01"] ("S-49") alphabet,
        "Public id and secret are letters and digits" },
];

fn taken_apart(case: &Case) -> Result<(&str, &str, &str)> {
    parts_of(main_key(case))
}

/// Vendor, public id and secret of a key, which a failure must not show.
fn parts_of(key: &str) -> Result<(&str, &str, &str)> {
    check::key_parts(key).ok_or_else(|| {
        let got = format!("a key of {} characters in another form", key.len());
        Failure::failed("a key of the form <vendor>_live_<public_id>_<secret>", got)
    })
}

/// A key that the scenario has made in the run's session.
struct NewKey {
    case: Case,
    session: Wire,
    id: String,
    key: String,
    /// The answer that has the key.
    answer: ApiResponse,
}

impl NewKey {
    async fn make(case: &Case, scopes: &[&str]) -> Result<Self> {
        let session = case.session().await?;
        let body = json!({ "name": case.name("key"), "scopes": scopes });
        let answer = session.post("/api-keys", body).await?;
        answer.success()?;
        let text = |place| answer.string(place).map(str::to_owned);
        let (id, key) = (text("/data/publicId")?, text("/data/key")?);
        Ok(Self { case: case.clone(), session, id, key, answer })
    }

    fn path(&self) -> String {
        format!("/api-keys/{}", self.id)
    }

    async fn revoke(&self) -> Result<ApiResponse> {
        self.session.delete(&self.path()).await
    }

    /// `GET /prompts` with this key.
    async fn read(&self) -> Result<ApiResponse> {
        self.call(Method::GET, "/prompts").send().await
    }

    /// `POST /vaults` with this key.
    async fn write(&self) -> Result<ApiResponse> {
        let body = json!({ "name": self.case.name("vault") });
        self.call(Method::POST, "/vaults").json(&body).send().await
    }

    /// What it makes is deleted with the key of the account under test.
    fn call(&self, method: Method, path: &str) -> Call {
        let call = self.case.wire().call(method, path);
        call.header("authorization", format!("Bearer {}", self.key))
    }

    async fn listed(&self) -> Result<Value> {
        let list = self.session.get("/api-keys").await?;
        let found = list.status(200)?.array("/data")?.into_iter().find(|one| self.is(one));
        found.ok_or_else(|| list.failure("the key in the list", "no such entry"))
    }

    fn is(&self, record: &Value) -> bool {
        record["publicId"] == self.id
    }

    /// The record of its creation, without the key.
    fn record(&self) -> Result<Value> {
        let mut record = self.answer.at("/data")?.clone();
        if let Some(fields) = record.as_object_mut() {
            fields.remove("key");
        }
        Ok(record)
    }
}

/// The secret of a key is not in a response.
fn hides(reply: &ApiResponse, secret: &str) -> Result {
    let mut texts = reply.headers().values().map(HeaderValue::as_bytes).chain([&reply.body()[..]]);
    let shown = texts.any(|text| text.windows(secret.len()).any(|part| part == secret.as_bytes()));
    reply.ensure(!shown, "an answer without the secret of the key", "one with it").map(drop)
}

/// Letters and digits, of which there is at least one.
fn is_plain(part: &str) -> bool {
    !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric())
}

async fn parts(case: Case) -> Result {
    let (vendor, id, secret) = taken_apart(&case)?;
    let empty = [vendor, id, secret].iter().any(|part| part.is_empty());
    check::ensure(!empty, "no part of the key to be empty", "an empty one")?;
    case.wire().get("/vaults").await?.status(200).map(drop)
}

async fn alphabet(case: Case) -> Result {
    let (_, id, secret) = taken_apart(&case)?;
    // A failure must not show them.
    check::ensure(is_plain(id), "letters and digits in the public id", "other characters")?;
    check::ensure(is_plain(secret), "letters and digits in the secret", "other characters")
}

async fn whole(case: Case) -> Result {
    let (_, id, secret) = taken_apart(&case)?;
    for (name, token) in [
        ("without the vendor", format!("live_{id}_{secret}")),
        ("without the prefix", format!("{id}_{secret}")),
        ("the secret alone", secret.to_owned()),
    ] {
        let call = case.anonymous().call(Method::GET, "/vaults");
        let call = call.header("authorization", format!("Bearer {token}"));
        check::with_context(name, call.send().await?.status(401))?;
    }
    Ok(())
}

async fn never_shown(case: Case) -> Result {
    let (_, _, secret) = taken_apart(&case)?;
    for (_, reply) in [successes(&case).await?, refusals(&case).await?].concat() {
        hides(&reply, secret)?;
    }
    hides(&create(&case, case.wire()).await?, secret)
}

async fn create(case: &Case, wire: Wire) -> Result<ApiResponse> {
    let body = json!({ "name": case.name("key"), "scopes": ["prompts:write"] });
    wire.post("/api-keys", body).await
}

async fn refused(case: Case, wire: fn(&Case) -> Wire) -> Result {
    create(&case, wire(&case)).await?.status_in(400..=599).map(drop)
}

async fn status(case: Case) -> Result {
    for wire in [case.wire(), case.read_only(), case.anonymous()] {
        for body in [json!({ "name": "n", "scopes": ["prompts:write"] }), json!({}), json!([])] {
            let reply = wire.post("/api-keys", body).await?;
            reply.status(401)?.equals("/data", json!(null))?.equals("/details", json!({}))?;
        }
        wire.post_empty("/api-keys").await?.status(401)?;
        wire.get("/api-keys").await?.status(401)?;
        wire.delete("/api-keys/p1").await?.status(401)?;
    }
    Ok(())
}
