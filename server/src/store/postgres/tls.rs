//! TLS to the database, as `sslmode` and `sslrootcert` ask for it.

use std::path::{Path, PathBuf};
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

/// How a connection is secured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TlsMode {
    /// No TLS.
    Disable,
    /// TLS if the server offers it, with any certificate.
    Prefer,
    /// TLS, with any certificate.
    Require,
    /// TLS, with a certificate for this host from an authority in the file, or from one that
    /// the system trusts.
    VerifyFull(Option<PathBuf>),
}

impl TlsMode {
    /// From `sslmode` and `sslrootcert`.
    pub(super) fn parse(mode: Option<&str>, root: Option<&str>) -> Result<Self, &'static str> {
        match (mode, root.filter(|root| !root.is_empty())) {
            (Some("verify-full"), None | Some("system")) | (None, Some("system")) => {
                Ok(Self::VerifyFull(None))
            }
            (Some("verify-full"), Some(file)) => Ok(Self::VerifyFull(Some(file.into()))),
            (_, Some(_)) => Err("its parameter sslrootcert needs sslmode=verify-full: no other \
                                 mode checks certificates"),
            (Some("disable"), None) => Ok(Self::Disable),
            (Some("prefer") | None, None) => Ok(Self::Prefer),
            (Some("require"), None) => Ok(Self::Require),
            (Some(_), None) => {
                Err("its parameter sslmode must be disable, prefer, require or verify-full")
            }
        }
    }

    /// The mode of the driver. The connector checks certificates.
    pub(super) fn ssl_mode(&self) -> SslMode {
        match self {
            Self::Disable => SslMode::Disable,
            Self::Prefer => SslMode::Prefer,
            Self::Require | Self::VerifyFull(_) => SslMode::Require,
        }
    }

    /// Fails if the file of authorities cannot be used.
    pub(super) fn connector(&self) -> Result<MakeRustlsConnect, Cause> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()?;
        let config = match self {
            Self::VerifyFull(Some(path)) => config.with_root_certificates(roots(path)?),
            Self::VerifyFull(None) => config.with_platform_verifier()?,
            Self::Disable | Self::Prefer | Self::Require => {
                let verifier = Arc::new(NoVerification(provider));
                config.dangerous().with_custom_certificate_verifier(verifier)
            }
        };
        let mut config = config.with_no_client_auth();
        // `sslnegotiation=direct` needs it.
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(MakeRustlsConnect::new(config))
    }
}

fn roots(path: &Path) -> Result<RootCertStore, Cause> {
    let fault = |problem: &str| format!("sslrootcert: {}: {problem}", path.display());
    let certificates =
        CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut roots = RootCertStore::empty();
    for certificate in certificates.map_err(|error| fault(&error.to_string()))? {
        roots.add(certificate)?;
    }
    if roots.is_empty() {
        return Err(fault("it has no certificate in PEM form").into());
    }
    Ok(roots)
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
