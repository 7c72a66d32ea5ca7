//! A service whose answers are looked at on their way out.

use std::fmt;
use std::net::Ipv4Addr;
use std::sync::Arc;

use promptarium_conformance::{Case, Target};
use promptarium_server::Clock;
use promptarium_server::test_support::{
    DatabaseUrl, MemoryStore, Migration, PostgresStore, PublicUrl, ScratchDatabase, Service,
    ServiceParts, StoreKind, serve, start,
};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::description::Description;
use crate::gateway::{Gateway, Log};
use crate::keys;
use crate::parts::{NotStarted, config};

const WORKERS: usize = 8;

/// What the service keeps its things in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Memory,
    Postgres,
}

/// A running service.
pub(crate) struct Session {
    pub(crate) target: Arc<Target>,
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
        log: Log,
    ) -> Result<Self, NotStarted> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let public = PublicUrl::of_listener(listener.local_addr()?);
        let base_url = public.base_url();
        let (store, database) = store(form).await?;
        let (provider, blobs) = (None, None);
        let clock = Clock::System;
        let parts = ServiceParts { store, clock, public, provider, blobs };
        let service = start(config(WORKERS)?, parts).await?;
        let link = service.sign_in.make().await?;
        let target = Arc::new(Target::new(keys::target(&base_url, link.as_deref())?)?);
        let gateway = Gateway { app: Arc::clone(&service.app), description, log };
        let serving = tokio::spawn(async move {
            let (limits, quotas) = Default::default();
            serve(listener, gateway, limits, quotas, std::future::pending()).await;
        });
        // Before the code expires.
        Case::new(Arc::clone(&target), "sign-in").session().await?;
        Ok(Self { target, serving, service, database })
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
