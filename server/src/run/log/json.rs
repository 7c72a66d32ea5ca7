//! A log line as JSON: time, level, the fields of the event, where it comes from, and the spans
//! around it.
//!
//! As the format of `tracing-subscriber`, which takes twice as long, because it writes each piece
//! of JSON through `fmt`.

use std::fmt;

use jiff::Timestamp;
use serde::Serializer as _;
use serde::ser::SerializeMap;
use serde_json::Serializer;
use serde_json::value::RawValue;
use tracing::{Event, Subscriber};
use tracing_serde::{AsSerde, SerdeMapVisitor};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

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
        let mut line = Vec::with_capacity(LINE_BYTES);
        write(context, event, &mut line).map_err(|_| fmt::Error)?;
        line.push(b'\n');
        writer.write_str(std::str::from_utf8(&line).map_err(|_| fmt::Error)?)
    }
}

fn write<S, N>(
    context: &FmtContext<'_, S, N>,
    event: &Event<'_>,
    line: &mut Vec<u8>,
) -> serde_json::Result<()>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    let mut serializer = Serializer::new(line);
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("timestamp", &format_args!("{:.6}", Timestamp::now()))?;
    map.serialize_entry("level", &event.metadata().level().as_serde())?;
    let mut fields = SerdeMapVisitor::new(map);
    event.record(&mut fields);
    let mut map = fields.take_serializer()?;
    map.serialize_entry("target", event.metadata().target())?;
    for span in context.event_scope().into_iter().flatten() {
        let extensions = span.extensions();
        if let Some(fields) = extensions.get::<FormattedFields<N>>() {
            map.serialize_entry(span.name(), serde_json::from_str::<&RawValue>(fields)?)?;
        }
    }
    map.end()
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
            let cause = None::<&str>;
            tracing::warn!(status = 503, duration_us = 12_u64, cause, "a \"quoted\"\ntext");
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
            "target": module_path!(),
            "request": { "id": "r1" },
        });
        assert_eq!(line, expected);
    }
}
