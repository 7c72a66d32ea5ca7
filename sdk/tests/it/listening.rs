//! Somebody who listens to `tracing`, on one thread, and keeps what was told.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Dispatch, Event, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

/// Everything that was told, in the order in which it began.
#[derive(Clone, Default)]
pub(crate) struct Kept(Arc<Mutex<Vec<Told>>>);

struct Told {
    metadata: &'static Metadata<'static>,
    fields: Fields,
    /// Where what it is a part of stands among all.
    parent: Option<usize>,
    is_over: bool,
}

/// Where a span stands among all.
struct Place(usize);

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

/// Keeps what is told on this thread from now on, at every level, until the guard is
/// dropped.
pub(crate) fn listen() -> (Kept, DefaultGuard) {
    // As long as there is only one listener, `tracing` asks no more than the thread that
    // comes to a span first, and if that one does not listen, nobody hears of it.
    static ANOTHER: OnceLock<Dispatch> = OnceLock::new();
    ANOTHER.get_or_init(|| Dispatch::new(tracing_subscriber::registry()));
    let kept = Kept::default();
    let subscriber = tracing_subscriber::registry().with(kept.clone());
    (kept, tracing::subscriber::set_default(subscriber))
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Kept {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let span = context.span(id).unwrap();
        let parent = span.parent().map(|parent| parent.extensions().get::<Place>().unwrap().0);
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let place = self.keep(span.metadata(), fields, parent);
        span.extensions_mut().insert(Place(place));
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let place = context.span(id).unwrap().extensions().get::<Place>().unwrap().0;
        values.record(&mut self.0.lock().unwrap()[place].fields);
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let parent = context.event_span(event);
        let parent = parent.map(|parent| parent.extensions().get::<Place>().unwrap().0);
        let mut fields = Fields::default();
        event.record(&mut fields);
        self.keep(event.metadata(), fields, parent);
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let place = context.span(&id).unwrap().extensions().get::<Place>().unwrap().0;
        self.0.lock().unwrap()[place].is_over = true;
    }
}

impl Kept {
    fn keep(
        &self,
        metadata: &'static Metadata<'static>,
        fields: Fields,
        parent: Option<usize>,
    ) -> usize {
        let mut all = self.0.lock().unwrap();
        let is_over = metadata.is_event();
        all.push(Told { metadata, fields, parent, is_over });
        all.len() - 1
    }

    /// What the crate told, and what the test did itself: below what it is a part of.
    pub(crate) fn ours(&self) -> String {
        let (all, mut text) = (self.0.lock().unwrap(), String::new());
        let ours = |told: &Told| {
            let target = told.metadata.target();
            target == "promptarium" || target.starts_with("it::")
        };
        write_below(&all, None, 0, &ours, &mut text);
        text
    }

    /// Everything, from whichever crate.
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
        let open = all.iter().filter(|told| !told.is_over);
        open.filter(|told| told.metadata.target() == "promptarium")
            .map(|told| told.metadata.name())
            .collect()
    }
}

fn write_below(
    all: &[Told],
    parent: Option<usize>,
    depth: usize,
    ours: &dyn Fn(&Told) -> bool,
    text: &mut String,
) {
    for (place, told) in all.iter().enumerate().filter(|(_, told)| told.parent == parent) {
        if ours(told) {
            let margin = "  ".repeat(depth);
            *text += &format!("{margin}{}\n", head(told));
            for (name, value) in &told.fields.0 {
                *text += &format!("{margin}  {name}: {value}\n");
            }
            write_below(all, Some(place), depth + 1, ours, text);
        }
    }
}

fn head(told: &Told) -> String {
    let name = if told.metadata.is_span() { told.metadata.name() } else { "(event)" };
    format!("{} {name}", told.metadata.level())
}
