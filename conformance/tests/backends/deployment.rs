//! Starting the service in one of its forms, with the keys that scenarios need.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use promptarium_conformance::{Case, Target};
use promptarium_server::test_support::ScratchDatabase;
use promptarium_server::test_support::{BlobSetting, Blobs};
use promptarium_server::{EmbeddedServer, EmbeddedServerBuilder};
use tokio::sync::Mutex;

use crate::balancer::{Balancer, Changes, Socket};
use crate::embedded::builder;
use crate::form::Form;
use crate::keys;

const REPLICAS: usize = 3;

/// The service as scenarios meet it.
pub(crate) struct Deployment {
    pub(crate) target: Arc<Target>,
    parts: Mutex<Parts>,
}

/// What runs, and what it keeps its things in.
#[derive(Default)]
struct Parts {
    servers: Vec<EmbeddedServer>,
    balancer: Option<Balancer>,
    database: Option<ScratchDatabase>,
    files: Option<Folder>,
}

/// Why there is no service.
pub(crate) type NotStarted = Box<dyn Error + Send + Sync>;

impl Deployment {
    pub(crate) async fn start(form: Form) -> Result<Self, NotStarted> {
        let (base_url, parts) = match form {
            Form::Memory => one(Parts::default(), builder()).await?,
            Form::Postgres => {
                let database = ScratchDatabase::create().await?;
                let builder = builder().database_url(database.url());
                one(Parts { database: Some(database), ..Parts::default() }, builder).await?
            }
            Form::Replicas => replicas().await?,
        };
        let link = parts.servers[0].sign_in_url().await?;
        let target = Arc::new(Target::new(keys::target(&base_url, Some(&link))?)?);
        // Before the code expires.
        Case::new(Arc::clone(&target), "sign-in").session().await?;
        Ok(Self { target, parts: Mutex::new(parts) })
    }

    /// Stops it, and says how its requests were spread.
    pub(crate) async fn stop(&self) -> String {
        let Parts { servers, balancer, database, files } =
            std::mem::take(&mut *self.parts.lock().await);
        let traffic = balancer.as_ref().map(ToString::to_string).unwrap_or_default();
        drop(balancer);
        for server in servers {
            server.shutdown().await;
        }
        drop((database, files));
        traffic
    }
}

async fn one(parts: Parts, builder: EmbeddedServerBuilder) -> Result<(String, Parts), NotStarted> {
    let server = builder.start().await?;
    Ok((server.base_url().to_owned(), Parts { servers: vec![server], ..parts }))
}

/// Replicas share what they share in production, a database and a store of files,
/// and nothing else. They start at once, on an empty database.
async fn replicas() -> Result<(String, Parts), NotStarted> {
    let (database, files) = (ScratchDatabase::create().await?, Folder::create()?);
    let socket = Socket::bind().await?;
    let mut starting = Vec::new();
    for _ in 0..REPLICAS {
        let builder = builder()
            .database_url(database.url())
            .public_url(socket.url()?)
            .blobs(Blobs::open(&BlobSetting::Folder(files.path().into()))?);
        starting.push(builder.start());
    }
    let servers = futures::future::try_join_all(starting).await?;
    let addresses: Vec<_> = servers.iter().map(EmbeddedServer::local_addr).collect();
    let base_url = servers[0].base_url().to_owned();
    let balancer = Some(socket.forward_to(&addresses, Changes::NONE));
    let (database, files) = (Some(database), Some(files));
    Ok((base_url, Parts { servers, balancer, database, files }))
}

/// An empty folder of its own, removed with this value.
struct Folder(PathBuf);

impl Folder {
    fn create() -> std::io::Result<Self> {
        let name =
            format!("promptarium-backends-{}-{:08x}", std::process::id(), rand::random::<u32>());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path)?;
        Ok(Self(path))
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder for temporary files is emptied sooner or later in any case.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
