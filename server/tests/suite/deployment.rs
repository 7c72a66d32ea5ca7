//! Starting the service in one of its forms, with the keys that scenarios need.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use promptarium_conformance::{Authorities, Http, Target, TargetConfig, environment};
use promptarium_server::EmbeddedServer;
use promptarium_server::test_support::{Blobs, PublicUrl, ScratchDatabase, serve, start};
use tokio::net::TcpListener;
use tokio::sync::Mutex;
use tokio_util::either::Either;

use crate::backends::Backend;
use crate::balancer::{self, Changes};
use crate::gateway::{Gateway, Judge};
use crate::keys::{self, builder};
pub(crate) use crate::parts::NotStarted;
use crate::parts::config;
use crate::session::Session;
use crate::tls;

const REPLICAS: usize = 3;
const WORKERS: usize = 8;

pub(crate) struct Deployment {
    pub(crate) target: Arc<Target>,
    stop: Mutex<Stop>,
}

type Stop = BoxFuture<'static, ()>;

/// What scenarios are told of a service, its sign-in link, and how it is stopped.
type Started = (TargetConfig, String, Stop);

impl Deployment {
    pub(crate) async fn start(backend: Backend, judge: Judge) -> Result<Self, NotStarted> {
        let (config, link, stop) = match backend {
            Backend::Memory => watched(None, None, judge, || ()).await?,
            Backend::Folder => {
                let folder = tempfile::tempdir()?;
                let place = format!("--data={}", folder.path().display());
                watched(Some(place), None, judge, || drop(folder)).await?
            }
            Backend::Postgres => {
                let database = ScratchDatabase::create().await?;
                let socket = tls::Socket::bind(&["h2", "http/1.1"]).await?;
                let place = format!("--database-url={}", database.url());
                watched(Some(place), Some(socket), judge, || drop(database)).await?
            }
            Backend::Replicas => replicas().await?,
            Backend::Deployed => deployed()?,
        };
        let target = Arc::new(Target::new(config)?);
        // Before its code expires.
        Session::begin(&target, &link).await.map_err(|failure| failure.got)?;
        Ok(Self { target, stop: Mutex::new(stop) })
    }

    pub(crate) async fn stop(&self) {
        (&mut *self.stop.lock().await).await;
    }
}

/// One service, with the flag that says where its data are, whose answers are judged on their way
/// out, behind TLS or over HTTP/2 alone.
async fn watched(
    place: Option<String>,
    socket: Option<tls::Socket>,
    judge: Judge,
    at_last: impl FnOnce() + Send + 'static,
) -> Result<Started, NotStarted> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let public = match &socket {
        Some(socket) => PublicUrl::parse(&socket.url()?)?,
        None => PublicUrl::of_listener(address),
    };
    let base_url = public.base_url();
    let (service, _) = start(&config(WORKERS, place)?, &public).await?;
    let mut config = keys::target(&base_url)?;
    let link = service.sign_in.make().await?.ok_or("no sign-in link")?;
    match &socket {
        Some(socket) => config.authorities = Authorities::from_pem(socket.authority.as_bytes())?,
        None => config.http = Http::Two,
    }
    let gateway = Gateway { app: Arc::clone(&service.app), judge };
    let serving = tokio::spawn(async move {
        let (limits, quotas) = Default::default();
        serve(Either::Left(listener), gateway, limits, quotas, std::future::pending()).await;
    });
    let proxy = socket.map(|socket| socket.forward_to(address));
    let stop = async move {
        drop(proxy);
        serving.abort();
        service.stop().await;
        at_last();
    };
    Ok((config, link, Box::pin(stop)))
}

/// Replicas share what they share in production, a database and a store of files,
/// and nothing else. They start at once, on an empty database.
async fn replicas() -> Result<Started, NotStarted> {
    let database = ScratchDatabase::create().await?;
    let files = tempfile::tempdir()?;
    let socket = balancer::Socket::bind().await?;
    let mut starting = Vec::new();
    for _ in 0..REPLICAS {
        let builder = builder()
            .database_url(database.url())
            .webhook_delays([0, 100, 100, 100].map(Duration::from_millis))
            .public_url(socket.url()?)
            .blobs(Blobs::in_folder(files.path())?);
        starting.push(builder.start());
    }
    let servers = futures::future::try_join_all(starting).await?;
    let addresses: Vec<_> = servers.iter().map(EmbeddedServer::local_addr).collect();
    let link = servers[0].sign_in_url().await?;
    let config = keys::target(servers[0].base_url())?;
    let balancer = socket.forward_to(&addresses, Changes::NONE);
    let stop = async move {
        drop(balancer);
        for server in servers {
            server.shutdown().await;
        }
        drop((database, files));
    };
    Ok((config, link, Box::pin(stop)))
}

/// A service that runs already.
fn deployed() -> Result<Started, NotStarted> {
    let variable = |name: &str| std::env::var(name).ok();
    let config = environment::target_config(None, variable)?;
    let link = variable("PROMPTARIUM_SIGN_IN_URL").ok_or("set PROMPTARIUM_SIGN_IN_URL")?;
    Ok((config, link, Box::pin(std::future::ready(()))))
}
