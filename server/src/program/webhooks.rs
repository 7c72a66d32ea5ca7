//! Webhooks of the program: which store has them, and the workers that deliver their events.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use crate::api::webhooks::deliver::{Deliverer, WebhookSettings};
use crate::embedded::EmbeddedServerBuilder;
use crate::generate::Outcomes;
use crate::generate::worker::pool::WorkerPool;
use crate::outbound::Outbound;
use crate::start::Extend;
use crate::store::Store;
use crate::store::memory::MemoryStore;
#[cfg(feature = "postgres")]
use crate::store::postgres::PostgresStore;
use crate::store::webhooks::WebhookStore;

/// Delivers the events of a service.
pub(super) fn deliver(settings: WebhookSettings) -> Extend {
    Arc::new(move |api| {
        let Some(store) = of(&api.store) else { return Ok(None) };
        let outbound = Outbound::new(!settings.allow_private, 0)?;
        let (assets, clock) = (api.assets.clone(), api.clock.clone());
        let (settings, outcomes) = (settings.clone(), Outcomes::default());
        api.extensions.insert(outcomes.clone());
        let deliverer = Deliverer { store, outbound, assets, clock, settings, outcomes };
        api.extensions.insert(deliverer.clone());
        Ok(Some(WorkerPool::start(&deliverer, &api.draining)))
    })
}

/// The webhooks of a store; `None` of a store of a test.
pub(crate) fn of(store: &Arc<dyn Store>) -> Option<Arc<dyn WebhookStore>> {
    let any: Arc<dyn Any + Send + Sync> = store.clone();
    #[cfg(feature = "postgres")]
    let any = match any.downcast::<PostgresStore>() {
        Ok(store) => return Some(store),
        Err(any) => any,
    };
    let store = any.downcast::<MemoryStore>().ok()?;
    store.add_webhooks();
    Some(store)
}

impl EmbeddedServerBuilder {
    /// How long it waits before the first attempt to deliver an event to a webhook, and after each
    /// that failed. Its webhooks may be at private addresses and without TLS, as those of a test.
    pub fn webhook_delays(self, delays: impl IntoIterator<Item = Duration>) -> Self {
        let delays = delays.into_iter().collect();
        self.extend(deliver(WebhookSettings { allow_private: true, delays }))
    }
}
