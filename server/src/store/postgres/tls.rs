//! TLS to the database, as `sslmode` and `sslrootcert` ask for it.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::store::Cause;

/// The mode for the driver, which encrypts, and a connector that checks certificates. Fails if
/// the parameters are wrong or the file of authorities cannot be used.
pub(super) fn connector(
    mode: Option<&str>,
    root: Option<&str>,
) -> Result<(SslMode, MakeRustlsConnect), Cause> {
    let root = root.filter(|root| !root.is_empty());
    let ssl_mode = match (mode, root) {
        (Some("verify-full"), _) | (None, Some("system")) => SslMode::Require,
        (_, Some(_)) => Err("its parameter sslrootcert needs sslmode=verify-full: no other mode \
                             checks certificates")?,
        (Some("disable"), None) => SslMode::Disable,
        (Some("prefer") | None, None) => SslMode::Prefer,
        (Some("require"), None) => SslMode::Require,
        _ => Err("its parameter sslmode must be disable, prefer, require or verify-full")?,
    };
    let provider = Arc::new(aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()?;
    let config = match root {
        None if mode != Some("verify-full") => {
            let verifier = Arc::new(NoVerification(provider));
            config.dangerous().with_custom_certificate_verifier(verifier)
        }
        None | Some("system") => config.with_platform_verifier()?,
        Some(path) => {
            let fault = |cause| format!("its parameter sslrootcert: {path}: {cause}");
            config.with_root_certificates(roots(path.as_ref()).map_err(fault)?)
        }
    };
    let mut config = config.with_no_client_auth();
    // `sslnegotiation=direct` needs it.
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    Ok((ssl_mode, MakeRustlsConnect::new(config)))
}

fn roots(path: &Path) -> Result<RootCertStore, Cause> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path)? {
        roots.add(certificate?)?;
    }
    if roots.is_empty() { Err("it has no certificate in PEM form".into()) } else { Ok(roots) }
}

/// Accepts any certificate whose key the server holds.
#[derive(Debug)]
struct NoVerification(Arc<CryptoProvider>);

impl ServerCertVerifier for NoVerification {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
