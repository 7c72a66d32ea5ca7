//! How bytes get to the target: which certificates are trusted, which version
//! of HTTP is spoken. Calls, the SDK and raw sockets all go by what is set here,
//! so that none of them meets a target that the others do not.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

/// Which version of HTTP a run speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Http {
    /// What the target prefers over TLS, HTTP/1.1 else.
    #[default]
    Auto,
    /// HTTP/1.1 only.
    One,
    /// HTTP/2 only; without TLS by prior knowledge.
    Two,
}

impl Http {
    /// The names a TLS handshake offers, the preferred one first.
    fn offered(self) -> Vec<Vec<u8>> {
        let names: &[&[u8]] = match self {
            Self::Auto => &[b"h2", b"http/1.1"],
            Self::One => &[b"http/1.1"],
            Self::Two => &[b"h2"],
        };
        names.iter().map(|name| name.to_vec()).collect()
    }

    /// Keeps an HTTP client to this version.
    pub(super) fn set(self, client: reqwest::ClientBuilder) -> reqwest::ClientBuilder {
        match self {
            Self::Auto => client,
            Self::One => client.http1_only(),
            Self::Two => client.http2_prior_knowledge(),
        }
    }
}

impl FromStr for Http {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            "1.1" => Ok(Self::One),
            "2" => Ok(Self::Two),
            _ => Err("expected auto, 1.1 or 2".into()),
        }
    }
}

impl fmt::Display for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::One => "1.1",
            Self::Two => "2",
        })
    }
}

/// Certificates of authorities that are trusted beside those of the system.
#[derive(Clone, Debug, Default)]
pub struct Authorities {
    certificates: Vec<CertificateDer<'static>>,
    file: Option<PathBuf>,
}

impl Authorities {
    /// Reads a file of one or more certificates in PEM form.
    ///
    /// # Errors
    /// One line that names the file and says what is wrong with it.
    pub fn read(file: &Path) -> Result<Self, String> {
        let shown = file.display();
        let pem =
            std::fs::read(file).map_err(|error| format!("{shown} cannot be read: {error}"))?;
        let read = Self::from_pem(&pem).map_err(|reason| format!("{shown} {reason}"))?;
        Ok(Self { file: Some(file.to_owned()), ..read })
    }

    /// The same from what such a file holds.
    ///
    /// # Errors
    /// What is wrong with it, to be put behind its name.
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

/// What a TLS connection to the target is made by.
///
/// # Errors
/// If the versions of TLS and the cryptography do not fit together.
pub(super) fn tls(http: Http, trusted: &Authorities) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    let builder =
        match Verifier::new_with_extra_roots(trusted.certificates.iter().cloned(), provider) {
            Ok(verifier) => {
                builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
            }
            // A system without authorities may still talk to a target without TLS.
            Err(_) => builder.with_root_certificates(RootCertStore::empty()),
        };
    let mut config = builder.with_no_client_auth();
    config.alpn_protocols = http.offered();
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::{Authorities, Http};

    #[test]
    fn versions_are_named_as_they_are_shown() {
        for http in [Http::Auto, Http::One, Http::Two] {
            assert_eq!(http.to_string().parse(), Ok(http));
        }
        assert!("3".parse::<Http>().is_err());
    }

    #[test]
    fn a_file_without_certificates_is_refused() {
        let wrong = |pem: &str| Authorities::from_pem(pem.as_bytes()).unwrap_err();
        assert!(wrong("").contains("no certificate"));
        let key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
        assert!(wrong(key).contains("no certificate"));
        let other = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert!(wrong(other).contains("certificate 1 is faulty"));
        assert!(wrong("-----BEGIN CERTIFICATE-----\n").contains("no PEM file"));
    }
}
