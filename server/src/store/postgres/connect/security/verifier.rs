//! Whether a server is the right one.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::{Mode, SecurityError};

/// What `mode` asks of a server, with `authorities` instead of those of the system.
pub(super) fn verifier(
    mode: Mode,
    authorities: Option<Vec<CertificateDer<'static>>>,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, SecurityError> {
    let Some(authorities) = authorities else {
        return Ok(match mode {
            Mode::VerifyFull => {
                Arc::new(rustls_platform_verifier::Verifier::new(provider.clone())?)
            }
            _ => Arc::new(Anybody(provider.clone())),
        });
    };
    let mut roots = RootCertStore::empty();
    for authority in &authorities {
        roots.add(authority.clone())?;
    }
    let chain = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone());
    let chain = chain.build().map_err(|error| Error::General(error.to_string()))?;
    let with_name = mode == Mode::VerifyFull;
    Ok(Arc::new(Known { authorities, chain, with_name }))
}

/// Lets everybody in who holds the key of the certificate shown, whatever it says.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

/// Lets in whom the authorities of a file vouch for, or who is in that file.
#[derive(Debug)]
struct Known {
    authorities: Vec<CertificateDer<'static>>,
    chain: Arc<WebPkiServerVerifier>,
    /// Whether it must be the server that the address names.
    with_name: bool,
}

impl ServerCertVerifier for Known {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        // A server's own certificate as its authority is what many clusters have. A
        // chain of one is no chain for webpki, whose certificates never vouch for
        // themselves.
        if self.authorities.iter().any(|known| known == end_entity) {
            if self.with_name {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
            }
            return Ok(ServerCertVerified::assertion());
        }
        let verified = self.chain.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match verified {
            // Looked at last, when all else was found right.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.with_name => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chain.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chain.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chain.supported_verify_schemes()
    }
}

impl ServerCertVerifier for Anybody {
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
