//! A `tracing` subscriber that records the spans and events of one thread.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Dispatch, Event, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

/// Spans and events, in the order in which they began.
#[derive(Clone, Default)]
pub(crate) struct Recorder(Arc<Mutex<Vec<Entry>>>);

struct Entry {
    metadata: &'static Metadata<'static>,
    fields: Fields,
    /// The index of its parent.
    parent: Option<usize>,
    has_ended: bool,
}

/// The index of a span.
struct Index(usize);

#[derive(Default)]
struct Fields(Vec<(&'static str, String)>);

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.push((field.name(), value.to_owned()));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.push((field.name(), format!("{value:?}")));
    }
}

/// Records spans and events of this thread at every level until the guard is dropped.
pub(crate) fn listen() -> (Recorder, DefaultGuard) {
    // With a single subscriber, `tracing` caches for each span whether the first thread that
    // reaches it has a subscriber, and other threads would record nothing.
    static ANOTHER: OnceLock<Dispatch> = OnceLock::new();
    ANOTHER.get_or_init(|| Dispatch::new(tracing_subscriber::registry()));
    let recorder = Recorder::default();
    let subscriber = tracing_subscriber::registry().with(recorder.clone());
    (recorder, tracing::subscriber::set_default(subscriber))
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Recorder {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let span = context.span(id).unwrap();
        let parent = span.parent().map(|parent| parent.extensions().get::<Index>().unwrap().0);
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let index = self.add(span.metadata(), fields, parent);
        span.extensions_mut().insert(Index(index));
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let index = context.span(id).unwrap().extensions().get::<Index>().unwrap().0;
        values.record(&mut self.0.lock().unwrap()[index].fields);
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let parent = context.event_span(event);
        let parent = parent.map(|parent| parent.extensions().get::<Index>().unwrap().0);
        let mut fields = Fields::default();
        event.record(&mut fields);
        self.add(event.metadata(), fields, parent);
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let index = context.span(&id).unwrap().extensions().get::<Index>().unwrap().0;
        self.0.lock().unwrap()[index].has_ended = true;
    }
}

impl Recorder {
    fn add(
        &self,
        metadata: &'static Metadata<'static>,
        fields: Fields,
        parent: Option<usize>,
    ) -> usize {
        let mut all = self.0.lock().unwrap();
        let has_ended = metadata.is_event();
        all.push(Entry { metadata, fields, parent, has_ended });
        all.len() - 1
    }

    /// Spans and events of the crate and of the test, each below its parent.
    pub(crate) fn ours(&self) -> String {
        let (all, mut text) = (self.0.lock().unwrap(), String::new());
        let ours = |told: &Entry| {
            let target = told.metadata.target();
            target == "promptarium" || target.starts_with("it::")
        };
        write_below(&all, None, 0, &ours, &mut text);
        text
    }

    /// Spans and events of all crates.
    pub(crate) fn all(&self) -> String {
        let (all, mut text) = (self.0.lock().unwrap(), String::new());
        for told in all.iter() {
            text += &format!("{} {}\n", told.metadata.target(), head(told));
            for (name, value) in &told.fields.0 {
                text += &format!("  {name}: {value}\n");
            }
        }
        text
    }

    /// The names of the crate's spans that have not ended.
    pub(crate) fn open(&self) -> Vec<&'static str> {
        let all = self.0.lock().unwrap();
        let open = all.iter().filter(|told| !told.has_ended);
        open.filter(|told| told.metadata.target() == "promptarium")
            .map(|told| told.metadata.name())
            .collect()
    }
}

fn write_below(
    all: &[Entry],
    parent: Option<usize>,
    depth: usize,
    ours: &dyn Fn(&Entry) -> bool,
    text: &mut String,
) {
    for (index, told) in all.iter().enumerate().filter(|(_, told)| told.parent == parent) {
        if ours(told) {
            let margin = "  ".repeat(depth);
            *text += &format!("{margin}{}\n", head(told));
            for (name, value) in &told.fields.0 {
                *text += &format!("{margin}  {name}: {value}\n");
            }
            write_below(all, Some(index), depth + 1, ours, text);
        }
    }
}

fn head(told: &Entry) -> String {
    let name = if told.metadata.is_span() { told.metadata.name() } else { "(event)" };
    format!("{} {name}", told.metadata.level())
}
