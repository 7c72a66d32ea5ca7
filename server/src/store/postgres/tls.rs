//! TLS to the database, as `sslmode` and `sslrootcert` ask for it.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{self, WebPkiSupportedAlgorithms, aws_lc_rs};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::store::Cause;

/// A connector that checks certificates as this mode asks for, by the authorities in `root`.
pub(super) fn connector(mode: &str, root: &str) -> Result<MakeRustlsConnect, Cause> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()?;
    let config = match (mode, root) {
        ("verify-full", "" | "system") => config.with_platform_verifier()?,
        ("verify-full", path) => {
            let fault = |cause| format!("its parameter sslrootcert: {path}: {cause}");
            config.with_root_certificates(roots(path).map_err(fault)?)
        }
        ("disable" | "prefer" | "require", "") => {
            let algorithms = provider.signature_verification_algorithms;
            let verifier = NoVerification { algorithms, any_key: mode != "require" };
            config.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
        }
        (_, "") => Err("its parameter sslmode must be disable, prefer, require or verify-full")?,
        _ => Err("its parameter sslrootcert needs sslmode=verify-full: no other mode checks \
                  certificates")?,
    };
    let mut config = config.with_no_client_auth();
    // `sslnegotiation=direct` needs it.
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    Ok(MakeRustlsConnect::new(config))
}

fn roots(path: &str) -> Result<RootCertStore, Cause> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path)? {
        roots.add(certificate?)?;
    }
    if roots.is_empty() { Err("it has no certificate in PEM form".into()) } else { Ok(roots) }
}

/// Accepts any certificate whose key the server holds, and with `any_key` every certificate, also
/// of versions that cannot be parsed, such as those of Citus.
#[derive(Debug)]
struct NoVerification {
    algorithms: WebPkiSupportedAlgorithms,
    any_key: bool,
}

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
        if self.any_key {
            return Ok(HandshakeSignatureValid::assertion());
        }
        crypto::verify_tls12_signature(message, cert, dss, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if self.any_key {
            return Ok(HandshakeSignatureValid::assertion());
        }
        crypto::verify_tls13_signature(message, cert, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
