//! The forms in which the reference server is tested, each started when the first
//! scenario asks for it.

use std::fmt;
use std::sync::Arc;

use promptarium_conformance::Target;
use tokio::sync::OnceCell;

use crate::deployment::{Deployment, NotStarted};

/// A way to run the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// One server that keeps everything in memory.
    Memory,
    /// One server on a database.
    Postgres,
    /// Three servers on one database, each request at the next one.
    Replicas,
}

/// All of them; what is not asked for is not started.
#[derive(Default)]
pub(crate) struct Forms([OnceCell<Result<Deployment, String>>; Form::ALL.len()]);

impl Form {
    pub(crate) const ALL: [Self; 3] = [Self::Memory, Self::Postgres, Self::Replicas];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Postgres => "postgres",
            Self::Replicas => "replicas",
        }
    }

    /// Short, for names that may have 50 characters.
    pub(crate) const fn tag(self) -> &'static str {
        match self {
            Self::Memory => "mem",
            Self::Postgres => "pos",
            Self::Replicas => "rep",
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Forms {
    /// The service in this form, or why it does not run.
    pub(crate) async fn target(&self, form: Form) -> Result<Arc<Target>, String> {
        let started = self.0[form as usize].get_or_init(|| async {
            let deployment = Deployment::start(form).await;
            deployment.map_err(|reason| with_causes(form, &reason))
        });
        match started.await {
            Ok(deployment) => Ok(Arc::clone(&deployment.target)),
            Err(reason) => Err(reason.clone()),
        }
    }

    /// Stops what was started, and says how its requests were spread.
    pub(crate) async fn stop(&self) -> String {
        let mut traffic = String::new();
        for started in &self.0 {
            if let Some(Ok(deployment)) = started.get() {
                traffic.push_str(&deployment.stop().await);
            }
        }
        traffic
    }
}

/// The reason with all its causes.
fn with_causes(form: Form, reason: &NotStarted) -> String {
    let mut text = format!("the form `{form}` does not start: {reason}");
    let mut next = std::error::Error::source(&**reason);
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}
