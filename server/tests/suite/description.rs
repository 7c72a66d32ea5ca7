//! The document as the tests use it: from a request and its answer to all that is
//! other than described.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use http::header::ALLOW;
use http::{HeaderMap, Method, StatusCode};
use serde_json::Value;

use crate::answer::{Answer, Unusable, fields, followed};

/// An operation and a status that it answers with.
pub(crate) type Status = (String, u16);

/// What was seen, if it is described, and all that is other than described.
pub(crate) type Judged = (Vec<Status>, Vec<String>);

pub(crate) struct Description {
    pub(crate) operations: Vec<Operation>,
    /// The answer at a path that nothing is at.
    nothing: Arc<Answer>,
}

pub(crate) struct Operation {
    pub(crate) method: Method,
    pub(crate) template: String,
    pub(crate) takes_json: bool,
    id: String,
    needs_token: bool,
    answers: BTreeMap<u16, Arc<Answer>>,
}

impl Description {
    pub(crate) fn of(document: &Value) -> Result<Self, Unusable> {
        // Shared answers are compiled once.
        let mut shared = BTreeMap::new();
        for (name, response) in fields(&document["components"]["responses"]) {
            let reference = format!("#/components/responses/{name}");
            shared.insert(reference, Arc::new(Answer::of(document, response)?));
        }
        let nothing = shared.get("#/components/responses/NotFound").ok_or("no NotFound")?.clone();
        let mut operations = Vec::new();
        for (template, item) in fields(&document["paths"]) {
            for (method, operation) in fields(item) {
                let method = method.to_uppercase().parse()?;
                operations.push(Operation::of(document, method, template, operation, &shared)?);
            }
        }
        Ok(Self { operations, nothing })
    }

    pub(crate) fn promised(&self) -> BTreeSet<Status> {
        let statuses = |operation: &Operation| -> Vec<Status> {
            operation.answers.keys().map(|status| (operation.id.clone(), *status)).collect()
        };
        self.operations.iter().flat_map(statuses).collect()
    }

    /// Holds an answer against what is described.
    pub(crate) fn judge(
        &self,
        method: &Method,
        path: &str,
        status: StatusCode,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Judged {
        let body = Some(body).filter(|_| method != Method::HEAD);
        let here: Vec<_> = self.operations.iter().filter(|one| one.is_at(path)).collect();
        if here.is_empty() {
            let mut violations = self.nothing.violations(headers, body);
            if status != StatusCode::NOT_FOUND {
                violations.push(format!("{status} at a path that is not described"));
            }
            return (Vec::new(), violations);
        }
        // `OPTIONS` and `HEAD` are described by S-61 alone.
        if *method == Method::OPTIONS {
            let is_right = status == StatusCode::NO_CONTENT && headers.contains_key(ALLOW);
            let wrong = (!is_right).then(|| format!("{status} to OPTIONS, or no Allow"));
            return (Vec::new(), wrong.into_iter().collect());
        }
        let of = |method: &Method| here.iter().find(|one| one.method == *method).copied();
        let own = of(method).or_else(|| of(&Method::GET).filter(|_| *method == Method::HEAD));
        // To a method that is not described the answer is 405, or where a token is needed 401
        // before it. It is the path's, and so that of all operations there.
        let refuses = |one: &&Operation| {
            status == StatusCode::METHOD_NOT_ALLOWED
                || (status == StatusCode::UNAUTHORIZED && one.needs_token)
        };
        let described = match own {
            Some(own) => vec![own],
            None => here.into_iter().filter(refuses).collect(),
        };
        let Some(answer) = described.iter().find_map(|one| one.answers.get(&status.as_u16()))
        else {
            let id = own.map_or("a method that is not described", |own| &own.id);
            return (Vec::new(), vec![format!("{id} does not describe {status}")]);
        };
        let violations = answer.violations(headers, body).into_iter();
        let seen = described.iter().map(|one| (one.id.clone(), status.as_u16())).collect();
        (seen, violations.map(|violation| format!("{status}: {violation}")).collect())
    }
}

impl Operation {
    fn of(
        document: &Value,
        method: Method,
        template: &str,
        operation: &Value,
        shared: &BTreeMap<String, Arc<Answer>>,
    ) -> Result<Self, Unusable> {
        let mut answers = BTreeMap::new();
        for (status, response) in fields(&operation["responses"]) {
            let reference = response["$ref"].as_str();
            let answer = match reference.and_then(|reference| shared.get(reference)) {
                Some(answer) => Arc::clone(answer),
                None => Arc::new(Answer::of(document, followed(document, response)?)?),
            };
            answers.insert(status.parse()?, answer);
        }
        Ok(Self {
            method,
            template: template.to_owned(),
            takes_json: !operation["requestBody"]["content"]["application/json"].is_null(),
            id: operation["operationId"].as_str().ok_or("an operation has no name")?.to_owned(),
            needs_token: operation["security"][0].get("uploadToken").is_some(),
            answers,
        })
    }

    fn is_at(&self, path: &str) -> bool {
        let fits = |(segment, given): (&str, &str)| match segment.starts_with('{') {
            true => !given.is_empty(),
            false => given == segment,
        };
        let (own, given) = (self.template.split('/'), path.split('/'));
        own.clone().count() == given.clone().count() && own.zip(given).all(fits)
    }
}
