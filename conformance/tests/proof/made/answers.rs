//! Each endpoint succeeds with another status, or in another envelope.

use promptarium_conformance::scenarios::tables::ROWS;
use serde_json::{Value, json};

use super::{made, route};
use crate::entries::without;
use crate::fault::{Fault, Intercept};
use crate::front::{edits_success, no_content, status_instead};

/// An operator: as in ids, the rule it breaks if that is not the endpoint's own, what is wrong,
/// and how.
type Operator = (&'static str, Option<&'static str>, &'static str, fn(&'static str) -> Intercept);

const OPERATORS: [Operator; 8] = [
    ("other-status", None, "succeeds with 203", |route| status_instead(route, 203)),
    ("no-content", None, "succeeds with 204", no_content),
    ("no-error", Some("EN-03"), "has no error in a success", |route| {
        edits_success(route, |body| without(body, "error"))
    }),
    ("no-data", Some("EN-03"), "has no data in a success", |route| {
        edits_success(route, |body| without(body, "data"))
    }),
    ("empty-error", Some("EN-04"), "has an empty error in a success", |route| {
        edits_success(route, |body| body["error"] = "".into())
    }),
    ("with-error", Some("EN-04"), "has a text as error in a success", |route| {
        edits_success(route, |body| body["error"] = "none".into())
    }),
    ("null-data", Some("EN-05"), "has null in data", |route| {
        edits_success(route, |body| body["data"] = Value::Null)
    }),
    (
        "other-data",
        Some("EN-05"),
        "has an object in data for a list, or a list for an object",
        |route| {
            edits_success(route, |body| {
                let data = body["data"].take();
                body["data"] = if data.is_array() {
                    json!({ "items": data })
                } else {
                    Value::Array(vec![data])
                };
            })
        },
    ),
];

pub(super) fn all() -> Vec<Fault> {
    let of_row = |row: &'static promptarium_conformance::scenarios::tables::Row| {
        OPERATORS.into_iter().map(move |(operator, rule, wrong, how)| {
            let routes = route(&row.method, row.template);
            made(
                format!("answers.{}.{operator}", row.name),
                rule.unwrap_or(row.rule),
                format!("answers.success.{}", row.name),
                format!("{routes} {wrong}."),
                move || how(routes),
            )
        })
    };
    ROWS.iter().flat_map(of_row).collect()
}
