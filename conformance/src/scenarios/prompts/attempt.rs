//! A try to create or to update a prompt with certain fields, and how it must
//! end. Most rules about fields hold for both, so both are tried alike.

use http::Method;
use serde_json::{Value, json};

use crate::wire::Reply;
use crate::{Case, Failure, make};

/// What the fields are sent to.
#[derive(Clone, Copy, Debug)]
pub(super) enum On {
    /// `POST /prompts`, beside a good title and text.
    Create,
    /// `PATCH` of this prompt.
    Update(i64),
}

/// A call that was answered.
pub(super) struct Attempt {
    pub(super) reply: Reply,
    sent: String,
}

/// A create, and an update of a new text prompt without a model.
pub(super) async fn both(case: &Case) -> Result<[On; 2], Failure> {
    Ok([On::Create, On::Update(make::prompt(case, &case.wire()).await?)])
}

/// Sends the fields.
pub(super) async fn attempt(case: &Case, on: On, fields: Value) -> Result<Attempt, Failure> {
    let mut body = match on {
        On::Create => json!({ "title": case.name("prompt"), "prompt": "A lighthouse at dusk" }),
        On::Update(_) => json!({}),
    };
    let sent = fields.to_string();
    if let (Value::Object(body), Value::Object(fields)) = (&mut body, fields) {
        body.extend(fields);
    }
    send(case, on, body.to_string(), &sent).await
}

async fn send(case: &Case, on: On, body: String, sent: &str) -> Result<Attempt, Failure> {
    let (method, path, verb) = match on {
        On::Create => (Method::POST, "/prompts".to_owned(), "create"),
        On::Update(id) => (Method::PATCH, format!("/prompts/{id}"), "update"),
    };
    let reply = case.wire().call(method, &path).body("application/json", body).send().await?;
    let shown: String = sent.chars().take(100).collect();
    Ok(Attempt { reply, sent: format!("{verb} with {shown}") })
}

impl Attempt {
    /// It was a success; which status a success has is not asked here.
    pub(super) fn accepted(&self) -> Result<&Reply, Failure> {
        let success = (200..=299).contains(&self.reply.status_code());
        self.answered(success, "a status from 200 to 299")
    }

    /// It was refused with 400.
    pub(super) fn refused(&self) -> Result<&Reply, Failure> {
        self.answered(self.reply.status_code() == 400, "status 400")
    }

    /// It was refused with 400, with a message under this field's name; the message.
    pub(super) fn names(&self, field: &str) -> Result<&str, Failure> {
        let reply = self.refused()?;
        let message = reply.at("/details")?.get(field).and_then(Value::as_str);
        message.ok_or_else(|| {
            let expected = format!("a message for {field} in details after a {}", self.sent);
            reply.failure(expected, reply.at("/details").unwrap_or(&Value::Null))
        })
    }

    fn answered(&self, so: bool, status: &str) -> Result<&Reply, Failure> {
        let got = format!("status {}", self.reply.status_code());
        self.reply.ensure(so, format!("{status} for a {}", self.sent), got)
    }
}
