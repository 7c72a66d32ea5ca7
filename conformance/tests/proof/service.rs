//! A service of its own for each fault: store, files, keys, and the way in.

use std::net::Ipv4Addr;
use std::sync::Arc;

use promptarium_conformance::Target;
use promptarium_server::test_support::{PublicUrl, Service, start};
use tokio::net::TcpListener;

use crate::fault::{Fault, Intercept};
use crate::keys;
use crate::parts::{NotStarted, config};
use crate::proxy::{self, Serving};

const WORKERS: usize = 8;
/// How many scenarios run at once on one service.
const AT_ONCE: usize = 8;

/// A running service, until it is dropped.
pub(crate) struct Running {
    pub(crate) target: Arc<Target>,
    /// How many scenarios may run at once.
    pub(crate) at_once: usize,
    _serving: Serving,
    _service: Service,
}

impl Running {
    /// A service with this fault.
    pub(crate) async fn faulty(fault: &Fault) -> Result<Self, NotStarted> {
        Self::start(Some((fault.how)())).await
    }

    pub(crate) async fn start(how: Option<Intercept>) -> Result<Self, NotStarted> {
        let at_once = if matches!(how, Some(Intercept::Silent(_))) { 1 } else { AT_ONCE };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let public = PublicUrl::of_listener(listener.local_addr()?);
        let base_url = public.base_url();
        let (service, _) = start(config(WORKERS, None)?, public).await?;
        let serving = proxy::serve(listener, Arc::clone(&service.app), how).await?;
        let link = service.sign_in.make().await?;
        let target = Arc::new(Target::new(keys::target(&base_url, link.as_deref())?)?);
        Ok(Self { target, at_once, _serving: serving, _service: service })
    }
}
