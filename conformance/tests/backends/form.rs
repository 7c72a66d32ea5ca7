//! The forms in which the reference server is tested and the ways in which each is reached, started
//! when the first scenario asks for one.

use std::fmt;

use promptarium_conformance::{Need, Scenario};
use tokio::sync::OnceCell;

use crate::deployment::{Deployment, NotStarted};
use crate::gateway::Judge;

/// A way to run the service, and to reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// One server that keeps everything in memory, over HTTP/2 by prior knowledge.
    Memory,
    /// One server on a database, over TLS with an authority of its own, and HTTP/2 by agreement in
    /// the handshake.
    Postgres,
    /// Three servers on one database, each request at the next one, over HTTP/1.1.
    Replicas,
}

/// All of them; what is not asked for is not started.
pub(crate) struct Forms {
    started: [OnceCell<Result<Deployment, String>>; Form::ALL.len()],
    pub(crate) judge: Judge,
}

impl Form {
    pub(crate) const ALL: [Self; 3] = [Self::Memory, Self::Postgres, Self::Replicas];

    /// Whether the scenario can run: raw requests are of HTTP/1.1.
    pub(crate) fn takes(self, scenario: &Scenario) -> bool {
        self != Self::Memory || !scenario.needs.contains(&Need::HttpOne)
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "memory",
            Self::Postgres => "postgres",
            Self::Replicas => "replicas",
        })
    }
}

impl Forms {
    pub(crate) fn new(judge: Judge) -> Self {
        Self { started: Default::default(), judge }
    }

    /// The service in this form, or why it does not run.
    pub(crate) async fn deployment(&self, form: Form) -> Result<&Deployment, String> {
        let start = || async {
            let deployment = Deployment::start(form, self.judge.clone()).await;
            deployment.map_err(|reason| with_causes(form, &reason))
        };
        self.started[form as usize].get_or_init(start).await.as_ref().map_err(Clone::clone)
    }

    /// Stops what was started.
    pub(crate) async fn stop(&self) {
        for started in &self.started {
            if let Some(Ok(deployment)) = started.get() {
                deployment.stop().await;
            }
        }
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
