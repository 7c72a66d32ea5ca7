//! JSON that is written field by field into one buffer: records, and the lines of the log.
//!
//! Every request writes some. With derived views `serde_json` takes twice as long, because it looks for
//! escapes in the names of fields, and the log of `tracing-subscriber` six times as long: together
//! that is more than 10 % of the processor time of a request in memory.

use jiff::Timestamp;
use serde::Serialize;

use crate::clock::TIME_PRINTER;

/// What can be appended as JSON.
pub(crate) trait WriteJson {
    fn write_json(&self, json: &mut Vec<u8>);
}

impl<T: WriteJson> WriteJson for [T] {
    fn write_json(&self, json: &mut Vec<u8>) {
        write_array(json, self, |json, entry| entry.write_json(json));
    }
}

/// An object, to which fields are appended. Their names have nothing to escape.
pub(crate) struct Object<'a>(&'a mut Vec<u8>);

impl<'a> Object<'a> {
    pub(crate) fn begin(json: &'a mut Vec<u8>) -> Self {
        json.push(b'{');
        Self(json)
    }

    pub(crate) fn end(self) {
        self.0.push(b'}');
    }

    /// Appends the name of a field. What is appended to the buffer next is its value.
    pub(crate) fn field(&mut self, name: &'static str) -> &mut Vec<u8> {
        if self.0.last() != Some(&b'{') {
            self.0.push(b',');
        }
        self.0.push(b'"');
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
        self.0
    }

    pub(crate) fn text(&mut self, name: &'static str, text: &str) {
        self.value(name, text);
    }

    pub(crate) fn optional_text(&mut self, name: &'static str, text: Option<&str>) {
        self.value(name, &text);
    }

    /// Of what `serde_json` can write without an error.
    pub(crate) fn value(&mut self, name: &'static str, value: &(impl Serialize + ?Sized)) {
        write_value(self.field(name), value);
    }

    pub(crate) fn time(&mut self, name: &'static str, time: Timestamp) {
        let json = self.field(name);
        json.push(b'"');
        // Writing to a vector does not fail.
        let _ = TIME_PRINTER.print_timestamp(&time, &mut *json);
        json.push(b'"');
    }
}

/// Appends what `serde_json` can write without an error.
pub(crate) fn write_value(json: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    let _ = serde_json::to_writer(json, value);
}

/// Appends an array whose entries `write` appends.
pub(crate) fn write_array<T>(json: &mut Vec<u8>, entries: &[T], write: impl Fn(&mut Vec<u8>, &T)) {
    json.push(b'[');
    for (index, entry) in entries.iter().enumerate() {
        if index > 0 {
            json.push(b',');
        }
        write(json, entry);
    }
    json.push(b']');
}
