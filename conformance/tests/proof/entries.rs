//! Lists and members in requests and answers, to be read and changed.

use serde_json::Value;

use crate::exchange::Response;

/// Changes the entries of a success whose `data` is a list.
pub(crate) fn entries(response: &mut Response, change: impl FnOnce(&mut Vec<Value>)) {
    response.edit_data(|data| {
        if let Value::Array(entries) = data {
            change(entries);
        }
    });
}

/// A text member of an entry; empty if it is none.
pub(crate) fn text<'a>(entry: &'a Value, name: &str) -> &'a str {
    entry[name].as_str().unwrap_or_default()
}

/// A list that is a member of an object. Where it is not, nothing is put in.
pub(crate) fn list_of<'a>(object: &'a mut Value, name: &str) -> Option<&'a mut Vec<Value>> {
    object.get_mut(name)?.as_array_mut()
}

/// Leaves a member out.
pub(crate) fn without(object: &mut Value, name: &str) {
    if let Some(object) = object.as_object_mut() {
        object.remove(name);
    }
}

/// The whole numbers in a list that is a member of an object.
pub(crate) fn ids_of(object: &Value, name: &str) -> Vec<i64> {
    object[name].as_array().into_iter().flatten().filter_map(Value::as_i64).collect()
}
