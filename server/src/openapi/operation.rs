//! One operation: what its room says of it, and what follows from its route.
//!
//! Path, name, security and the parameters in the path are the route's. So are most
//! refusals: whoever reads a JSON body can refuse it in four ways, whoever needs a
//! key can miss it. A room adds what only it knows.

use std::collections::BTreeSet;

use http::Method;
use serde_json::{Map, Value, json};

use super::refusals::{self, Refusal};
use super::{parameters, schema, security};
use crate::http::auth::Access;
use crate::serve::routes::Route;

/// An operation as its room describes it.
#[derive(Debug)]
pub(super) struct Operation {
    tag: &'static str,
    summary: &'static str,
    description: String,
    parameters: Vec<Value>,
    has_rules_for_query: bool,
    body: Option<Value>,
    answers: Vec<Answer>,
    refuses: BTreeSet<Refusal>,
    asks_nobody: bool,
}

/// An answer that is no refusal.
#[derive(Debug)]
pub(super) struct Answer {
    status: u16,
    description: &'static str,
    content: Map<String, Value>,
    headers: Map<String, Value>,
    links: Map<String, Value>,
}

impl Operation {
    pub(super) fn new(tag: &'static str, summary: &'static str, description: &str) -> Self {
        Self {
            tag,
            summary,
            description: description.to_owned(),
            parameters: vec![parameters::request_id()],
            has_rules_for_query: false,
            body: None,
            answers: Vec::new(),
            refuses: BTreeSet::new(),
            asks_nobody: false,
        }
    }

    /// Adds a parameter of the query that is checked.
    pub(super) fn query(mut self, name: &str, schema: &Value, means: &str) -> Self {
        self.has_rules_for_query = true;
        self.parameter("query", name, false, schema, means)
    }

    /// Adds a parameter that stands elsewhere than in the path.
    pub(super) fn parameter(
        mut self,
        place: &str,
        name: &str,
        required: bool,
        schema: &Value,
        means: &str,
    ) -> Self {
        self.parameters.push(json!({
            "name": name,
            "in": place,
            "required": required,
            "description": means,
            "schema": schema,
        }));
        self
    }

    /// Says what JSON it takes.
    pub(super) fn json(self, schema: &Value, example: &Value) -> Self {
        let body = json!({ "application/json": { "schema": schema, "example": example } });
        self.bytes(&body)
    }

    /// Says which bytes it takes.
    pub(super) fn bytes(mut self, content: &Value) -> Self {
        self.refuses.extend(Refusal::OF_BODIES);
        self.body = Some(json!({ "required": true, "content": content }));
        self
    }

    /// Adds an answer.
    pub(super) fn answer(mut self, answer: Answer) -> Self {
        self.answers.push(answer);
        self
    }

    /// Adds a refusal that does not follow from the route.
    pub(super) fn refuses(mut self, refusal: Refusal) -> Self {
        self.refuses.insert(refusal);
        self
    }

    /// Says that the process answers by itself, so that nothing can be away.
    pub(super) fn asks_nobody(mut self) -> Self {
        self.asks_nobody = true;
        self
    }

    /// The operation object of OpenAPI.
    pub(super) fn write(&self, route: &Route) -> Value {
        let path = parameters::of_path(route.path);
        let mut operation = json!({
            "operationId": route.name,
            "tags": [self.tag],
            "summary": self.summary,
            "description": self.description,
            "parameters": path.chain(self.parameters.iter().cloned()).collect::<Vec<_>>(),
            "security": security::of(route.access),
            "responses": self.responses(route),
        });
        if let Some(body) = &self.body {
            operation["requestBody"] = body.clone();
        }
        operation
    }

    fn responses(&self, route: &Route) -> Value {
        // A body to a HEAD stays away, whatever the status.
        let is_head = route.method == Method::HEAD;
        let mut all = Map::new();
        for refusal in self.refusals(route) {
            let response = if is_head { refusal.head() } else { refusal.reference() };
            all.insert(refusal.status().as_str().to_owned(), response);
        }
        for answer in &self.answers {
            all.insert(answer.status.to_string(), answer.write(is_head));
        }
        Value::Object(all)
    }

    fn refusals(&self, route: &Route) -> BTreeSet<Refusal> {
        let mut all = self.refuses.clone();
        all.extend([Refusal::WrongMethod, Refusal::Internal]);
        if !self.asks_nobody {
            all.insert(Refusal::Unavailable);
        }
        if route.access != Access::None {
            all.insert(Refusal::Unauthorized);
        }
        // What an upload address names is told to nobody without its token.
        if route.path.contains('{') && route.access != Access::UploadToken {
            all.insert(Refusal::NotFound);
        }
        if self.has_rules_for_query {
            all.insert(Refusal::Invalid);
        }
        all
    }
}

impl Answer {
    pub(super) fn new(status: u16, description: &'static str) -> Self {
        let headers = refusals::request_id_header();
        Self { status, description, content: Map::new(), headers, links: Map::new() }
    }

    /// A resource or a whole list in its envelope (EN-03, EN-04).
    pub(super) fn data(self, schema: &Value, example: &Value) -> Self {
        let envelope = json!({
            "type": "object",
            "required": ["data", "error"],
            "properties": { "data": schema, "error": { "type": "null" } },
        });
        self.content("application/json", &envelope, &json!({ "data": example, "error": null }))
    }

    /// A body of this type.
    pub(super) fn content(mut self, kind: &str, schema: &Value, example: &Value) -> Self {
        self.content.insert(kind.to_owned(), json!({ "schema": schema, "example": example }));
        self
    }

    /// A body of bytes that are no JSON.
    pub(super) fn bytes(mut self, kind: &str) -> Self {
        self.content.insert(kind.to_owned(), json!({ "schema": schema::bytes() }));
        self
    }

    /// Adds a header that is always there.
    pub(super) fn header(mut self, name: &str, schema: &Value, means: &str) -> Self {
        let header = json!({ "required": true, "description": means, "schema": schema });
        self.headers.insert(name.to_owned(), header);
        self
    }

    /// Says where a thing in the answer leads: operation by operation, all with the
    /// same parameters.
    pub(super) fn leads_to(mut self, operations: &[&str], parameters: &[(&str, &str)]) -> Self {
        let parameters: Map<_, _> =
            parameters.iter().map(|(name, from)| ((*name).to_owned(), json!(from))).collect();
        for operation in operations {
            let link = json!({ "operationId": operation, "parameters": parameters });
            self.links.insert((*operation).to_owned(), link);
        }
        self
    }

    fn write(&self, is_head: bool) -> Value {
        let mut response = json!({ "description": self.description, "headers": self.headers });
        if !is_head && !self.content.is_empty() {
            response["content"] = Value::Object(self.content.clone());
        }
        if !self.links.is_empty() {
            response["links"] = Value::Object(self.links.clone());
        }
        response
    }
}
