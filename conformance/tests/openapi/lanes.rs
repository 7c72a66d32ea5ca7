//! Services that wait for a scenario; one more is started where none waits.

use std::sync::{Arc, Mutex, PoisonError};

use crate::description::Description;
use crate::lane::{Form, Lane};
use crate::parts::NotStarted;

/// Those that are free.
pub(crate) struct Lanes {
    free: Mutex<Vec<Lane>>,
    description: Arc<Description>,
}

impl Lanes {
    pub(crate) fn new(description: Arc<Description>) -> Self {
        Self { free: Mutex::default(), description }
    }

    pub(crate) async fn take(&self, form: Form) -> Result<Lane, NotStarted> {
        let free = self.free(|free| {
            let at = free.iter().position(|lane| lane.form == form)?;
            Some(free.swap_remove(at))
        });
        match free {
            Some(lane) => Ok(lane),
            None => Lane::start(form, Arc::clone(&self.description)).await,
        }
    }

    pub(crate) fn give_back(&self, lane: Lane) {
        self.free(|free| free.push(lane));
    }

    pub(crate) async fn stop(&self) {
        for lane in self.free(std::mem::take) {
            lane.stop().await;
        }
    }

    fn free<T>(&self, with: impl FnOnce(&mut Vec<Lane>) -> T) -> T {
        with(&mut self.free.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
