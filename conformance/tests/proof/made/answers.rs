//! Each endpoint succeeds with another status, or in another envelope.

use promptarium_conformance::scenarios::tables::{ROWS, Row};
use serde_json::{Value, json};

use super::{made, route};
use crate::exchange::without;
use crate::fault::{Fault, Intercept};
use crate::front::{answers, edits_success, no_content, status_instead};

/// An operator: as in ids, the rule it breaks if that is not the endpoint's own, and how.
type Operator = (&'static str, Option<&'static str>, fn(&'static str) -> Intercept);

#[rustfmt::skip]
const OPERATORS: [Operator; 17] = [
    ("status-200", None, |route| status_instead(route, 200)),
    ("status-201", None, |route| status_instead(route, 201)),
    ("status-202", None, |route| status_instead(route, 202)),
    ("other-status", None, |route| status_instead(route, 203)),
    ("status-206", None, |route| status_instead(route, 206)),
    ("no-content", None, no_content),
    ("no-body", Some("EN-03"), |route| answers(route, |_, response| response.body.clear())),
    ("in-a-list", Some("EN-03"), |route| edits_success(route, |body| *body = json!([body]))),
    ("no-error", Some("EN-03"), |route| edits_success(route, |body| without(body, "error"))),
    ("no-data", Some("EN-03"), |route| edits_success(route, |body| without(body, "data"))),
    ("empty-error", Some("EN-04"), |route| edits_success(route, |body| body["error"] = "".into())),
    ("false-error", Some("EN-04"), |route| edits_success(route, |body| body["error"] = false.into())),
    ("with-error", Some("EN-04"), |route| edits_success(route, |body| body["error"] = "none".into())),
    ("null-data", Some("EN-05"), |route| edits_success(route, |body| body["data"] = Value::Null)),
    ("text-data", Some("EN-05"), |route| edits_success(route, |body| {
        body["data"] = body["data"].to_string().into();
    })),
    ("empty-data", Some("EN-05"), |route| edits_success(route, |body| body["data"] = "".into())),
    // An object for a list, or a list for an object.
    ("other-data", Some("EN-05"), |route| edits_success(route, |body| {
        let data = body["data"].take();
        body["data"] = if data.is_array() { json!({ "items": data }) } else { json!([data]) };
    })),
];

pub(super) fn all() -> Vec<Fault> {
    ROWS.iter().flat_map(of_row).collect()
}

fn of_row(row: &'static Row) -> impl Iterator<Item = Fault> {
    let own = format!("status-{}", row.status);
    let others = OPERATORS.into_iter().filter(move |(operator, ..)| *operator != own);
    others.map(move |(operator, rule, how)| {
        let routes = route(row.method.as_str(), row.template);
        made(
            format!("answers.{}.{operator}", row.name),
            rule.unwrap_or(row.rule),
            format!("answers.success.{}", row.name),
            move || how(routes),
        )
    })
}
