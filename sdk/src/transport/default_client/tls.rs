//! TLS of the client's own HTTP client, by rustls. The certificate store is read once.

use std::sync::{Arc, OnceLock};

use reqwest::ClientBuilder;
use rustls::crypto::CryptoProvider;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

use crate::error::Error;

/// Sets up TLS. The second value says why https cannot be used, if the certificate store cannot be.
pub(super) fn set(builder: ClientBuilder) -> Result<(ClientBuilder, Option<String>), Error> {
    static LOADED: OnceLock<ClientConfig> = OnceLock::new();
    if let Some(config) = LOADED.get() {
        return Ok((builder.tls_backend_preconfigured(config.clone()), None));
    }
    let provider = provider()?;
    let versions = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::set_up("HTTP client", error))?;
    let (config, problem) = match Verifier::new(provider) {
        Ok(verifier) => {
            (versions.dangerous().with_custom_certificate_verifier(Arc::new(verifier)), None)
        }
        Err(error) => {
            (versions.with_root_certificates(RootCertStore::empty()), Some(no_store(error)))
        }
    };
    let mut config = config.with_no_client_auth();
    let protocols: &[&[u8]] =
        if cfg!(feature = "http2") { &[b"h2", b"http/1.1"] } else { &[b"http/1.1"] };
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    if problem.is_none() {
        config = LOADED.get_or_init(|| config).clone();
    }
    Ok((builder.tls_backend_preconfigured(config), problem))
}

fn no_store(error: rustls::Error) -> String {
    let reason = match error {
        rustls::Error::General(text) => text,
        other => other.to_string(),
    };
    format!(
        "https needs a certificate store ({reason}); install CA certificates, often the package \
         ca-certificates, or set SSL_CERT_FILE"
    )
}

fn provider() -> Result<Arc<CryptoProvider>, Error> {
    let installed = CryptoProvider::get_default().cloned();
    #[cfg(feature = "rustls")]
    let installed =
        installed.or_else(|| Some(Arc::new(rustls::crypto::aws_lc_rs::default_provider())));
    installed.ok_or_else(|| {
        Error::config(
            "no crypto provider for TLS is installed; call `CryptoProvider::install_default` of \
             rustls before the first client is built",
        )
    })
}
