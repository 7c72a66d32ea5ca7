//! TLS in front of a server that has none: an authority made for one test, and a
//! proxy that ends TLS and passes the bytes on as they are.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

pub(crate) type NotStarted = Box<dyn std::error::Error + Send + Sync>;

/// A socket that is bound and knows its certificate; nothing is passed on yet,
/// since the server must be told its address first.
pub(crate) struct Socket {
    listener: TcpListener,
    acceptor: TlsAcceptor,
    pub(crate) authority: String,
}

/// A proxy at work, until it is dropped.
pub(crate) type Proxy = JoinSet<()>;

impl Socket {
    pub(crate) async fn bind(offered: &[&str]) -> Result<Self, NotStarted> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new([])?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = params.self_signed(&key)?;
        let issuer = Issuer::new(params, key);
        let key = KeyPair::generate()?;
        let own = CertificateParams::new(["localhost".to_owned()])?.signed_by(&key, &issuer)?;
        let private = PrivateKeyDer::try_from(key.serialize_der())?;
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![own.der().clone()], private)?;
        config.alpn_protocols = offered.iter().map(|name| name.as_bytes().to_vec()).collect();
        Ok(Self {
            listener: TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?,
            acceptor: TlsAcceptor::from(Arc::new(config)),
            authority: authority.pem(),
        })
    }

    /// Such as `https://localhost:40123`.
    pub(crate) fn url(&self) -> Result<String, NotStarted> {
        Ok(format!("https://localhost:{}", self.listener.local_addr()?.port()))
    }

    /// Passes everything on to the server at this address.
    pub(crate) fn forward_to(self, server: SocketAddr) -> Proxy {
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = self.listener.accept().await {
                connections.spawn(pass(stream, self.acceptor.clone(), server));
                while connections.try_join_next().is_some() {}
            }
        });
        serving
    }
}

/// How a connection ends is between the scenario and the server.
async fn pass(stream: TcpStream, acceptor: TlsAcceptor, server: SocketAddr) {
    let Ok(mut near) = acceptor.accept(stream).await else { return };
    let Ok(mut far) = TcpStream::connect(server).await else { return };
    let _ = far.set_nodelay(true);
    let _ = copy_bidirectional(&mut near, &mut far).await;
}
