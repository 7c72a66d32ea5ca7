//! A whole service of its own for one scenario at a time, so that what is wrong with
//! an answer can be told of the scenario that asked; and those that wait for a scenario, one more
//! of which is started where none waits.

use std::fmt;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use promptarium_conformance::{Case, Target};
use promptarium_server::Clock;
use promptarium_server::test_support as listener;
use promptarium_server::test_support::MemoryStore;
use promptarium_server::test_support::PublicUrl;
use promptarium_server::test_support::ScratchDatabase;
use promptarium_server::test_support::{self as start, Service, ServiceParts, StoreKind};
use promptarium_server::test_support::{DatabaseUrl, Migration, PostgresStore};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::description::Description;
use crate::gateway::{Gateway, Log};
use crate::keys;
use crate::parts::{NotStarted, config};

const WORKERS: usize = 2;

/// What the service keeps its things in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Memory,
    Postgres,
}

/// A running service.
pub(crate) struct Session {
    pub(crate) form: Form,
    pub(crate) target: Arc<Target>,
    pub(crate) log: Log,
    scenarios: AtomicU32,
    serving: JoinHandle<()>,
    service: Service,
    database: Option<ScratchDatabase>,
}

impl Form {
    pub(crate) const ALL: [Self; 2] = [Self::Memory, Self::Postgres];
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "memory",
            Self::Postgres => "postgres",
        })
    }
}

impl Session {
    pub(crate) async fn start(
        form: Form,
        description: Arc<Description>,
    ) -> Result<Self, NotStarted> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let public = PublicUrl::of_listener(listener.local_addr()?);
        let base_url = public.base_url();
        let (store, database) = store(form).await?;
        let (provider, blobs) = (None, None);
        let clock = Clock::System;
        let parts = ServiceParts { store, clock, public, provider, blobs, with_metrics: false };
        let service = start::start(config(WORKERS)?, parts).await?;
        let link = service.sign_in.make().await?;
        let target = Arc::new(Target::new(keys::target(&base_url, link.as_deref())?)?);
        let log = Log::default();
        let gateway = Gateway { app: Arc::clone(&service.app), description, log: log.clone() };
        let serving = tokio::spawn(async move {
            let (limits, quotas) = Default::default();
            listener::serve(listener, gateway, limits, quotas, std::future::pending()).await;
        });
        // Before the code expires.
        Case::new(Arc::clone(&target), "sign-in").session().await?;
        let scenarios = AtomicU32::new(0);
        Ok(Self { form, target, log, scenarios, serving, service, database })
    }

    /// A name for what the next scenario makes.
    pub(crate) fn next_tag(&self) -> String {
        format!("oa-{}", self.scenarios.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) async fn stop(self) {
        self.serving.abort();
        self.service.background.stop().await;
        drop(self.database);
    }
}

async fn store(form: Form) -> Result<(StoreKind, Option<ScratchDatabase>), NotStarted> {
    match form {
        Form::Memory => Ok((StoreKind::Single(Arc::new(MemoryStore::new(Clock::System))), None)),
        Form::Postgres => {
            let database = ScratchDatabase::create().await?;
            let url = DatabaseUrl::parse(&database.url())?;
            let store = PostgresStore::open(&url, Migration::Auto, Clock::System).await?;
            Ok((StoreKind::Shared(store), Some(database)))
        }
    }
}

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
