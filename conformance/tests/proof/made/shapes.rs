//! Each answer leaves out each field of its object, has null for it, or a value of another type.

use promptarium_conformance::scenarios::tables::{OBJECTS, Type};
use serde_json::{Value, json};

use super::{dashed, made};
use crate::exchange::without;
use crate::fault::Fault;
use crate::front::edits_each;

const OPERATORS: [&str; 4] = ["dropped", "null", "other-type", "other-form"];

/// What stands there in place of a value; none if the operator says nothing of the type.
fn instead_of(value: &Value, kind: Type, operator: &str) -> Option<Value> {
    let text = || value.as_str().unwrap_or_default();
    match (operator, kind) {
        ("dropped", _) => Some(Value::Null),
        ("null", Type::TextOrNull) => None,
        ("null", _) => Some(Value::Null),
        ("other-type", Type::TextOrNull) => Some(false.into()),
        ("other-type", Type::Text | Type::Timestamp | Type::OneOf(_)) => Some(7.into()),
        ("other-type", Type::Images) => Some(json!({})),
        ("other-type", Type::Integers) => Some(json!(["7"])),
        ("other-type", _) => Some(value.to_string().into()),
        (_, Type::Integer) => Some(json!(value.as_f64()? + 0.5)),
        (_, Type::Timestamp) => Some(text().replace('T', " ").into()),
        (_, Type::OneOf(_)) => Some(text().to_uppercase().into()),
        (_, Type::Boolean | Type::True) => Some(1.into()),
        (_, Type::Exactly(number)) => Some((number + 1).into()),
        _ => None,
    }
}

pub(super) fn all() -> Vec<Fault> {
    let mut faults = Vec::new();
    for object in OBJECTS {
        for field in object.fields {
            for (number, routes) in object.routes.iter().copied().enumerate() {
                for operator in OPERATORS {
                    if instead_of(&json!(1), field.kind, operator).is_none() {
                        continue;
                    }
                    let (name, kind) = (field.name, field.kind);
                    let row = format!("shapes.{}.{}", object.name, dashed(name));
                    let how = move || {
                        edits_each(routes, move |data| match data.get(name) {
                            Some(_) if operator == "dropped" => without(data, name),
                            Some(value) => {
                                if let Some(other) = instead_of(value, kind, operator) {
                                    data[name] = other;
                                }
                            }
                            None => {}
                        })
                    };
                    // Another type or form breaks the rule of all ids and timestamps too.
                    let of_all = operator.starts_with("other-");
                    let rule = field.convention().filter(|_| of_all).unwrap_or(field.rule);
                    let id = format!("{row}.{number}-{operator}");
                    faults.push(made(id, rule, row, how));
                }
            }
        }
    }
    faults
}
