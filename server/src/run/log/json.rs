//! A log line as JSON: time, level, the fields of the event, where it comes from, and the spans
//! around it.
//!
//! As the format of `tracing-subscriber`, which takes twice as long, because it writes each piece
//! of JSON through `fmt`.

use std::fmt::{self, Write as _};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

use crate::clock::TimeText;

/// Most lines are shorter.
const LINE_BYTES: usize = 512;

/// Formats events; the fields of spans have to be formatted as JSON too.
pub(super) struct JsonLine;

impl<S, N> FormatEvent<S, N> for JsonLine
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
        let mut line = Line(String::with_capacity(LINE_BYTES));
        line.write(context, event).map_err(|_| fmt::Error)?;
        writer.write_str(&line.0)
    }
}

struct Line(String);

impl Line {
    fn write<S, N>(
        &mut self,
        context: &FmtContext<'_, S, N>,
        event: &Event<'_>,
    ) -> serde_json::Result<()>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
        N: for<'a> FormatFields<'a> + 'static,
    {
        self.0.push_str("{\"timestamp\":");
        self.text(TimeText::new(Timestamp::now()).as_str());
        self.name("level");
        self.text(event.metadata().level().as_str());
        event.record(self);
        self.name("target");
        self.text(event.metadata().target());
        for span in context.event_scope().into_iter().flatten() {
            let extensions = span.extensions();
            if let Some(fields) = extensions.get::<FormattedFields<N>>() {
                self.name(span.name());
                let fields: &RawValue = serde_json::from_str(fields)?;
                self.0.push_str(fields.get());
            }
        }
        self.0.push_str("}\n");
        Ok(())
    }

    fn name(&mut self, name: &str) {
        self.0.push(',');
        self.text(name);
        self.0.push(':');
    }

    /// `serde_json` looks at each byte of a text by itself; most have nothing to escape.
    fn text(&mut self, text: &str) {
        if needs_escapes(text) {
            self.value(text);
        } else {
            self.0.push('"');
            self.0.push_str(text);
            self.0.push('"');
        }
    }

    fn value(&mut self, value: impl Serialize) {
        // Texts and numbers can be written as JSON.
        self.0.push_str(&serde_json::to_string(&value).unwrap_or_default());
    }
}

fn needs_escapes(text: &str) -> bool {
    let is_special = |byte: u8| byte < b' ' || byte == b'"' || byte == b'\\';
    // Without an early exit, so that the loop takes many bytes at once.
    text.bytes().fold(false, |found, byte| found | is_special(byte))
}

impl Visit for Line {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.name(field.name());
        self.value(value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.name(field.name());
        self.text(value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.name(field.name());
        self.0.push_str(itoa::Buffer::new().format(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.name(field.name());
        self.0.push_str(itoa::Buffer::new().format(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.name(field.name());
        let _ = write!(self.0, "{value}");
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.name(field.name());
        let start = self.0.len();
        let _ = write!(self.0, "\"{value:?}");
        if needs_escapes(&self.0[start + 1..]) {
            let text = self.0.split_off(start);
            self.value(&text[1..]);
        } else {
            self.0.push('"');
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use parking_lot::Mutex;
    use serde_json::{Value, json};
    use tracing_subscriber::fmt::format::JsonFields;

    use super::*;

    #[derive(Clone, Default)]
    struct Output(Arc<Mutex<Vec<u8>>>);

    impl Write for Output {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_has_time_level_fields_target_and_spans() {
        let output = Output::default();
        let of_subscriber = output.clone();
        let lines = tracing_subscriber::fmt().with_writer(move || of_subscriber.clone());
        let lines = lines.fmt_fields(JsonFields::new()).event_format(JsonLine).finish();
        tracing::subscriber::with_default(lines, || {
            let _span = tracing::info_span!("request", id = "r1").entered();
            let (cause, note) = (None::<&str>, Some("\u{1}"));
            let (ratio, nan, back) = (0.5, f64::NAN, "\\");
            tracing::warn!(
                status = 503,
                duration_us = 12_u64,
                cause,
                ?note,
                ratio,
                nan,
                back,
                is = true,
                "a \"quoted\"\ntext"
            );
        });
        let line = String::from_utf8(output.0.lock().clone()).unwrap();
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
            "ratio": 0.5,
            "nan": null,
            "back": "\\",
            "is": true,
            "target": module_path!(),
            "request": { "id": "r1" },
        });
        assert_eq!(line, expected);
    }
}
