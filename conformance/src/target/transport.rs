//! Which certificates are trusted and which version of HTTP is spoken, by calls, the SDK and raw
//! sockets alike.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use clap::ValueEnum;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_platform_verifier::Verifier;

/// Which version of HTTP a run speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Http {
    /// What the target prefers over TLS, HTTP/1.1 else.
    #[default]
    Auto,
    /// HTTP/1.1 only.
    #[value(name = "1.1")]
    One,
    /// HTTP/2 only; without TLS by prior knowledge.
    #[value(name = "2")]
    Two,
}

impl Http {
    /// Keeps an HTTP client to this version.
    pub(super) fn set(self, client: reqwest::ClientBuilder) -> reqwest::ClientBuilder {
        match self {
            Self::Auto => client,
            Self::One => client.http1_only(),
            Self::Two => client.http2_prior_knowledge(),
        }
    }
}

/// Certificates of authorities that are trusted beside those of the system.
#[derive(Clone, Debug, Default)]
pub struct Authorities {
    certificates: Vec<CertificateDer<'static>>,
    file: Option<PathBuf>,
}

impl Authorities {
    /// Reads a file of one or more certificates in PEM form. The error is one line that names it.
    pub fn read(file: &Path) -> Result<Self, String> {
        let shown = file.display();
        let pem = std::fs::read(file).map_err(|error| format!("cannot be read: {error}"));
        let read = pem.and_then(|pem| Self::from_pem(&pem));
        let read = read.map_err(|reason| format!("{shown} {reason}"))?;
        Ok(Self { file: Some(file.to_owned()), ..read })
    }

    /// The same from the content of such a file; the error continues a sentence about the file.
    pub fn from_pem(pem: &[u8]) -> Result<Self, String> {
        let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
        let found = found.map_err(|error| format!("is no PEM file: {error}"))?;
        if found.is_empty() {
            return Err("holds no certificate in PEM form".into());
        }
        for (at, certificate) in found.iter().enumerate() {
            let added = RootCertStore::empty().add(certificate.clone());
            added.map_err(|error| format!("certificate {} is faulty: {error}", at + 1))?;
        }
        Ok(Self { certificates: found, file: None })
    }

    /// The file they were read from.
    pub(super) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }
}

/// Trusts the authorities of the system alone. They are read once, which takes a while.
static SYSTEM: LazyLock<Option<Arc<Verifier>>> =
    LazyLock::new(|| verifier(&[], Arc::new(aws_lc_rs::default_provider())));

fn verifier(
    more: &[CertificateDer<'static>],
    provider: Arc<CryptoProvider>,
) -> Option<Arc<Verifier>> {
    Verifier::new_with_extra_roots(more.iter().cloned(), provider).ok().map(Arc::new)
}

/// Trusts also the certificate of the target itself where it is in the file: many a self-signed one
/// says that it is an authority, which then may not be the target's own.
#[derive(Debug)]
struct Exact {
    verifier: Arc<Verifier>,
    trusted: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for Exact {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if self.trusted.iter().any(|one| one == end_entity) {
            return Ok(ServerCertVerified::assertion());
        }
        let verifier = &*self.verifier;
        verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}

/// The configuration of TLS connections to the target.
pub(super) fn tls(http: Http, trusted: &Authorities) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    let trusted = &trusted.certificates;
    let verifier = if trusted.is_empty() { SYSTEM.clone() } else { verifier(trusted, provider) };
    let builder = match verifier {
        Some(verifier) => {
            let exact = Arc::new(Exact { verifier, trusted: trusted.clone() });
            builder.dangerous().with_custom_certificate_verifier(exact)
        }
        // A system without authorities may still talk to a target without TLS.
        None => builder.with_root_certificates(RootCertStore::empty()),
    };
    let mut config = builder.with_no_client_auth();
    let (two, one) = (b"h2".to_vec(), b"http/1.1".to_vec());
    config.alpn_protocols = match http {
        Http::Auto => vec![two, one],
        Http::One => vec![one],
        Http::Two => vec![two],
    };
    Ok(config)
}
