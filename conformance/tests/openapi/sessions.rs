//! Services that wait for a scenario; one more is started where none waits.

use std::sync::{Arc, Mutex, PoisonError};

use crate::description::Description;
use crate::parts::NotStarted;
use crate::session::{Form, Session};

/// Those that are free.
pub(crate) struct Sessions {
    free: Mutex<Vec<Session>>,
    description: Arc<Description>,
}

impl Sessions {
    pub(crate) fn new(description: Arc<Description>) -> Self {
        Self { free: Mutex::default(), description }
    }

    pub(crate) async fn take(&self, form: Form) -> Result<Session, NotStarted> {
        let free = self.free(|free| {
            let at = free.iter().position(|session| session.form == form)?;
            Some(free.swap_remove(at))
        });
        match free {
            Some(session) => Ok(session),
            None => Session::start(form, Arc::clone(&self.description)).await,
        }
    }

    pub(crate) fn give_back(&self, session: Session) {
        self.free(|free| free.push(session));
    }

    pub(crate) async fn stop(&self) {
        for session in self.free(std::mem::take) {
            session.stop().await;
        }
    }

    fn free<T>(&self, with: impl FnOnce(&mut Vec<Session>) -> T) -> T {
        with(&mut self.free.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
