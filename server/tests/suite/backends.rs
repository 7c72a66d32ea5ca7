//! The backends on which the server is tested and the ways in which each is reached, started when
//! the first scenario asks for one.

use promptarium_conformance::{Scenario, environment};
use tokio::sync::OnceCell;

use crate::deployment::{Deployment, NotStarted};
use crate::gateway::Judge;

/// A way to run the service, and to reach it. A new one is a row here, in [`Backend::ALL`], and in
/// [`Deployment::start`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    /// One server that keeps everything in memory, over HTTP/2 by prior knowledge.
    Memory,
    /// One server that keeps everything in a folder, in the same way.
    Folder,
    /// One server on a database, over TLS with an authority of its own, and HTTP/2 by agreement in
    /// the handshake.
    Postgres,
    /// Three servers on one database, each request at the next one, over HTTP/1.1.
    Replicas,
    /// The deployment that the variables of `promptarium-conformance run` name, if they are set,
    /// with its sign-in link in `PROMPTARIUM_SIGN_IN_URL`.
    Deployed,
}

/// All of them; what is not asked for is not started.
pub(crate) struct Backends {
    started: [OnceCell<Result<Deployment, String>>; Backend::ALL.len() + 1],
    pub(crate) judge: Judge,
}

impl Backend {
    const ALL: [Self; 4] = [Self::Memory, Self::Folder, Self::Postgres, Self::Replicas];

    /// All that the tests start themselves, or the one that the environment names.
    pub(crate) fn chosen() -> Vec<Self> {
        match std::env::var_os(environment::BASE_URL) {
            Some(_) => vec![Self::Deployed],
            None => Self::ALL.into(),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Folder => "folder",
            Self::Postgres => "postgres",
            Self::Replicas => "replicas",
            Self::Deployed => "deployed",
        }
    }

    /// Whether the scenario can run: bytes on a socket are of HTTP/1.1.
    pub(crate) fn takes(self, scenario: &Scenario) -> bool {
        !matches!(self, Self::Memory | Self::Folder) || !scenario.id.starts_with("raw.")
    }
}

impl Backends {
    pub(crate) fn new(judge: Judge) -> Self {
        Self { started: Default::default(), judge }
    }

    /// The service on this backend, or why it does not run.
    pub(crate) async fn deployment(&self, backend: Backend) -> Result<&Deployment, String> {
        let start = || async {
            let deployment = Deployment::start(backend, self.judge.clone()).await;
            deployment.map_err(|reason| with_causes(backend, &reason))
        };
        self.started[backend as usize].get_or_init(start).await.as_ref().map_err(Clone::clone)
    }

    pub(crate) async fn stop(&self) {
        for started in &self.started {
            if let Some(Ok(deployment)) = started.get() {
                deployment.stop().await;
            }
        }
    }
}

fn with_causes(backend: Backend, reason: &NotStarted) -> String {
    let mut text = format!("the backend `{}` does not start: {reason}", backend.name());
    let mut next = std::error::Error::source(&**reason);
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}
