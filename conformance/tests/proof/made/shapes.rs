//! Each answer leaves out each field of its object, has null for it, or a value of another type.

use promptarium_conformance::scenarios::tables::{OBJECTS, Type};
use serde_json::{Value, json};

use super::{dashed, made};
use crate::entries::without;
use crate::fault::Fault;
use crate::front::edits_each;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    Dropped,
    Null,
    OtherType,
    OtherForm,
}

impl Operator {
    const ALL: [Self; 4] = [Self::Dropped, Self::Null, Self::OtherType, Self::OtherForm];

    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Dropped => ("dropped", "leaves out"),
            Self::Null => ("null", "has null for"),
            Self::OtherType => ("other-type", "has a value of another type for"),
            Self::OtherForm => ("other-form", "has a value of another form for"),
        }
    }

    /// What stands there in place of a value; none if the operator says nothing of the type.
    fn of(self, kind: Type, value: &Value) -> Option<Value> {
        let text = || value.as_str().unwrap_or_default();
        match (self, kind) {
            (Self::Dropped, _) => Some(Value::Null),
            (Self::Null, Type::TextOrNull) => None,
            (Self::Null, _) => Some(Value::Null),
            (Self::OtherType, Type::TextOrNull) => Some(false.into()),
            (Self::OtherType, Type::Text | Type::Timestamp | Type::OneOf(_)) => Some(7.into()),
            (Self::OtherType, Type::Images) => Some(json!({})),
            (Self::OtherType, Type::Integers) => Some(json!(["7"])),
            (Self::OtherType, _) => Some(value.to_string().into()),
            (Self::OtherForm, Type::Integer) => Some(json!(value.as_f64()? + 0.5)),
            (Self::OtherForm, Type::Timestamp) => Some(text().replace('T', " ").into()),
            (Self::OtherForm, Type::OneOf(_)) => Some(text().to_uppercase().into()),
            (Self::OtherForm, Type::Boolean | Type::True) => Some(1.into()),
            (Self::OtherForm, Type::Exactly(number)) => Some((number + 1).into()),
            (Self::OtherForm, _) => None,
        }
    }
}

pub(super) fn all() -> Vec<Fault> {
    let mut faults = Vec::new();
    for object in OBJECTS {
        for field in object.fields {
            for (number, routes) in object.routes.iter().copied().enumerate() {
                for operator in Operator::ALL {
                    if operator.of(field.kind, &json!(1)).is_none() {
                        continue;
                    }
                    let (name, kind) = (field.name, field.kind);
                    let (id, words) = operator.names();
                    let row = format!("shapes.{}.{}", object.name, dashed(name));
                    let how = move || {
                        edits_each(routes, move |data| match data.get(name) {
                            Some(_) if operator == Operator::Dropped => without(data, name),
                            Some(value) => {
                                if let Some(other) = operator.of(kind, value) {
                                    data[name] = other;
                                }
                            }
                            None => {}
                        })
                    };
                    let wrong = format!("{routes} {words} {name}.");
                    // Another type or form breaks the rule of all ids and timestamps too.
                    let of_all = matches!(operator, Operator::OtherType | Operator::OtherForm);
                    let rule = field.convention().filter(|_| of_all).unwrap_or(field.rule);
                    faults.push(made(format!("{row}.{number}-{id}"), rule, row, wrong, how));
                }
            }
        }
    }
    faults
}
