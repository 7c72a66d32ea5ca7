//! A log line as JSON: time, level, the fields of the event, where it comes from, and the spans
//! around it.
//!
//! As the format of `tracing-subscriber`, which takes 1,060 ns for the line of a request where this
//! takes 180 ns. In memory a request takes 9,200 ns of processor time, so it would be 9 % slower.

use std::fmt;

use jiff::Timestamp;
use serde_json::value::RawValue;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

use crate::http::json::Object;

/// Enough for most lines.
const LINE_BYTES: usize = 512;

/// The fields of spans have to be formatted as JSON too.
pub(super) struct JsonLines;

impl<S, N> FormatEvent<S, N> for JsonLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut line = Vec::with_capacity(LINE_BYTES);
        let mut fields = Fields(Object::begin(&mut line));
        fields.0.time("timestamp", Timestamp::now());
        fields.0.text("level", event.metadata().level().as_str());
        event.record(&mut fields);
        fields.0.text("target", event.metadata().target());
        for span in context.event_scope().into_iter().flatten() {
            let extensions = span.extensions();
            if let Some(formatted) = extensions.get::<FormattedFields<N>>()
                && let Ok(formatted) = serde_json::from_str::<&RawValue>(formatted)
            {
                fields.0.field(span.name()).extend_from_slice(formatted.get().as_bytes());
            }
        }
        fields.0.end();
        line.push(b'\n');
        writer.write_str(std::str::from_utf8(&line).map_err(|_| fmt::Error)?)
    }
}

/// The fields of an event.
struct Fields<'a>(Object<'a>);

impl Visit for Fields<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.text(field.name(), value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.value(field.name(), &value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.value(field.name(), &value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.0.value(field.name(), &value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.text(field.name(), &format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use serde_json::{Value, json};
    use tracing_subscriber::fmt::format::JsonFields;

    use super::super::tests::Output;
    use super::*;

    #[test]
    fn a_line_has_time_level_fields_target_and_spans() {
        let (output, lines) = sync_channel(9);
        let log = tracing_subscriber::fmt().fmt_fields(JsonFields::new()).event_format(JsonLines);
        let log = log.with_writer(move || Output(output.clone())).finish();
        tracing::subscriber::with_default(log, || {
            let _span = tracing::info_span!("request", id = "r1").entered();
            let (cause, note) = (None::<&str>, Some("\u{1}"));
            tracing::warn!(
                status = 503,
                duration_us = 12_u64,
                cause,
                ?note,
                back = "\\",
                is = true,
                "a \"quoted\"\ntext"
            );
        });
        let line: String = lines.try_iter().collect();
        assert_eq!(line.matches('\n').count(), 1);
        let mut line: Value = serde_json::from_str(&line).unwrap();
        let time = line["timestamp"].take();
        assert!(time.as_str().unwrap().parse::<Timestamp>().is_ok(), "{time}");
        let expected = json!({
            "timestamp": null,
            "level": "WARN",
            "message": "a \"quoted\"\ntext",
            "status": 503,
            "duration_us": 12,
            "note": "Some(\"\\u{1}\")",
            "back": "\\",
            "is": true,
            "target": module_path!(),
            "request": { "id": "r1" },
        });
        assert_eq!(line, expected);
    }
}
