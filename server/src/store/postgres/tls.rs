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

/// Why TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The file of authorities cannot be used.
    #[error("sslrootcert: {}: {problem}", path.display())]
    RootFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// What the TLS library says.
    #[error("TLS cannot be set up: {0}")]
    Setup(#[from] Error),
}

impl TlsMode {
    /// What the driver is told. Certificates are checked by the connector.
    pub(super) fn ssl_mode(&self) -> SslMode {
        match self {
            Self::Disable => SslMode::Disable,
            Self::Prefer => SslMode::Prefer,
            Self::Require | Self::VerifyFull(_) => SslMode::Require,
        }
    }

    /// # Errors
    /// If the file of authorities cannot be used.
    pub(super) fn connector(&self) -> Result<MakeRustlsConnect, TlsError> {
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

fn roots(path: &Path) -> Result<RootCertStore, TlsError> {
    let fault = |problem| TlsError::RootFile { path: path.to_owned(), problem };
    let certificates = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    let certificates: Vec<_> = certificates.map_err(|error| fault(error.to_string()))?;
    if certificates.is_empty() {
        return Err(fault("it has no certificate in PEM form".to_owned()));
    }
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        roots.add(certificate)?;
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
