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

/// The whole service as it is described.
pub(crate) struct Description {
    paths: Vec<Path>,
    /// The answer at a path that nothing is at.
    nothing: Arc<Answer>,
}

/// Where an operation is, and whether it reads JSON.
pub(crate) struct Place {
    pub(crate) method: Method,
    pub(crate) template: String,
    pub(crate) takes_json: bool,
}

struct Path {
    segments: Vec<String>,
    operations: BTreeMap<String, Operation>,
}

struct Operation {
    id: String,
    needs_token: bool,
    takes_json: bool,
    answers: BTreeMap<u16, Arc<Answer>>,
}

/// What an answer comes to.
pub(crate) struct Judged {
    /// What was seen, if it is described.
    pub(crate) seen: Vec<Status>,
    /// All that is other than described.
    pub(crate) violations: Vec<String>,
}

impl Description {
    /// Reads a document.
    pub(crate) fn of(document: &Value) -> Result<Self, Unusable> {
        // Shared answers are compiled once.
        let mut shared = BTreeMap::new();
        for (name, response) in fields(&document["components"]["responses"]) {
            let reference = format!("#/components/responses/{name}");
            shared.insert(reference, Arc::new(Answer::of(document, response)?));
        }
        let nothing = shared.get("#/components/responses/NotFound").ok_or("no NotFound")?.clone();
        let mut paths = Vec::new();
        for (template, item) in fields(&document["paths"]) {
            let mut operations = BTreeMap::new();
            for (method, operation) in fields(item) {
                let operation = Operation::of(document, operation, &shared)?;
                operations.insert(method.to_uppercase(), operation);
            }
            let segments = template.split('/').map(str::to_owned).collect();
            paths.push(Path { segments, operations });
        }
        Ok(Self { paths, nothing })
    }

    /// Every answer that is promised.
    pub(crate) fn promised(&self) -> BTreeSet<Status> {
        let operations = self.paths.iter().flat_map(|path| path.operations.values());
        let statuses = operations.flat_map(|operation| {
            operation.answers.keys().map(|status| (operation.id.clone(), *status))
        });
        statuses.collect()
    }

    /// Every operation.
    pub(crate) fn places(&self) -> Vec<Place> {
        let mut places = Vec::new();
        for path in &self.paths {
            for (method, operation) in &path.operations {
                let Ok(method) = Method::from_bytes(method.as_bytes()) else { continue };
                let template = path.segments.join("/");
                places.push(Place { method, template, takes_json: operation.takes_json });
            }
        }
        places
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
        let Some(known) = self.paths.iter().find(|known| known.is_that_of(path)) else {
            let mut violations = self.nothing.violations(headers, body);
            if status != StatusCode::NOT_FOUND {
                violations.push(format!("{status} at a path that is not described"));
            }
            return Judged { seen: Vec::new(), violations };
        };
        // `OPTIONS` and `HEAD` are described by S-61 alone.
        if *method == Method::OPTIONS {
            let is_right = status == StatusCode::NO_CONTENT && headers.contains_key(ALLOW);
            let wrong = (!is_right).then(|| format!("{status} to OPTIONS, or no Allow"));
            return Judged { seen: Vec::new(), violations: wrong.into_iter().collect() };
        }
        let of_get = || known.operations.get("GET").filter(|_| *method == Method::HEAD);
        let Some(operation) = known.operations.get(method.as_str()).or_else(of_get) else {
            return known.judge_other_method(status, headers, body);
        };
        let Some(answer) = operation.answers.get(&status.as_u16()) else {
            let violations = vec![format!("{} does not describe {status}", operation.id)];
            return Judged { seen: Vec::new(), violations };
        };
        let violations = answer.violations(headers, body);
        let of = |violation| format!("{} {status}: {violation}", operation.id);
        Judged {
            seen: vec![(operation.id.clone(), status.as_u16())],
            violations: violations.into_iter().map(of).collect(),
        }
    }
}

impl Path {
    fn is_that_of(&self, path: &str) -> bool {
        let mut given = path.split('/');
        let fits = self.segments.iter().all(|segment| match given.next() {
            Some(given) if segment.starts_with('{') => !given.is_empty(),
            Some(given) => given == segment,
            None => false,
        });
        fits && given.next().is_none()
    }

    /// The answer to a method that is not described: 405, or where a token is needed
    /// 401 before it.
    fn judge_other_method(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        body: Option<&[u8]>,
    ) -> Judged {
        let is_right = |operation: &&Operation| {
            status == StatusCode::METHOD_NOT_ALLOWED
                || (status == StatusCode::UNAUTHORIZED && operation.needs_token)
        };
        let described: Vec<_> = self.operations.values().filter(is_right).collect();
        let mut answers = described.iter().filter_map(|one| one.answers.get(&status.as_u16()));
        // The answer is the path's, and so that of all operations there.
        match answers.next() {
            None => {
                let violations = vec![format!("{status} to a method that is not described")];
                Judged { seen: Vec::new(), violations }
            }
            Some(answer) => Judged {
                seen: described.iter().map(|one| (one.id.clone(), status.as_u16())).collect(),
                violations: answer.violations(headers, body),
            },
        }
    }
}

impl Operation {
    fn of(
        document: &Value,
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
        let needs_token = operation["security"][0].get("uploadToken").is_some();
        let takes_json = !operation["requestBody"]["content"]["application/json"].is_null();
        let id = operation["operationId"].as_str().ok_or("an operation has no name")?;
        Ok(Self { id: id.to_owned(), needs_token, takes_json, answers })
    }
}
