//! TLS, as far as the address asks for it: `sslmode`, `sslrootcert`, `sslcert`,
//! `sslkey`, with the meaning they have for libpq.
//!
//! There is one difference: `verify-full` without `sslrootcert` trusts whom the
//! system trusts, instead of a file in a home directory.

mod verifier;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use self::verifier::verifier;
use super::address::AddressError;
use super::query::Query;

/// What is asked of a connection, from nothing to everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// No TLS.
    Disable,
    /// TLS if the server insists.
    Allow,
    /// TLS if the server can.
    Prefer,
    /// TLS, with anybody.
    Require,
    /// TLS with whoever has a certificate of a trusted authority.
    VerifyCa,
    /// TLS with the one that the address names.
    VerifyFull,
}

/// Whom to trust.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Root {
    /// Whom the system trusts.
    System,
    /// The authorities in this file.
    File(PathBuf),
}

/// How a connection is to be secured.
#[derive(Clone, Debug)]
pub(super) struct Security {
    mode: Mode,
    root: Option<Root>,
    /// A certificate that proves who we are, and its key.
    identity: Option<(PathBuf, PathBuf)>,
}

/// Why connections cannot be secured as asked.
#[derive(Debug, thiserror::Error)]
pub enum SecurityError {
    /// A file cannot be read, or has not in it what it should.
    #[error("{parameter}: {}: {problem}", path.display())]
    File {
        /// Which parameter names it.
        parameter: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// TLS cannot be set up.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
}

impl Security {
    /// What the parameters say.
    pub(super) fn read(query: &mut Query<'_>) -> Result<Self, AddressError> {
        let mode = query.take("sslmode");
        let root = query.take("sslrootcert").filter(|root| !root.is_empty());
        let root = root.map(|root| match &*root {
            "system" => Root::System,
            _ => Root::File(root.into()),
        });
        let identity = match (query.take("sslcert"), query.take("sslkey")) {
            (Some(certificate), Some(key)) => Some((certificate.into(), key.into())),
            (None, None) => None,
            _ => return Err(AddressError::Contradiction("sslcert and sslkey go together")),
        };
        let mode = match mode.as_deref() {
            None if root == Some(Root::System) => Mode::VerifyFull,
            None | Some("prefer") => Mode::Prefer,
            Some("disable") => Mode::Disable,
            Some("allow") => Mode::Allow,
            // An authority is named to be asked.
            Some("require") if matches!(root, Some(Root::File(_))) => Mode::VerifyCa,
            Some("require") => Mode::Require,
            Some("verify-ca") => Mode::VerifyCa,
            Some("verify-full") => Mode::VerifyFull,
            Some(_) => {
                let expected = "disable, allow, prefer, require, verify-ca or verify-full";
                return Err(AddressError::Parameter { name: "sslmode", expected });
            }
        };
        match (mode, &root) {
            (Mode::VerifyFull, _) | (_, Some(Root::File(_))) => {}
            (_, Some(Root::System)) => {
                let text = "sslrootcert=system needs sslmode=verify-full: anybody can have a \
                            certificate that the system trusts";
                return Err(AddressError::Contradiction(text));
            }
            (Mode::VerifyCa, None) => {
                let text = "sslmode=verify-ca needs sslrootcert, a file with the certificate of \
                            the authority";
                return Err(AddressError::Contradiction(text));
            }
            _ => {}
        }
        Ok(Self { mode, root, identity })
    }

    /// How to try to get in, one after the other.
    pub(super) fn tries(&self, local: bool) -> &'static [SslMode] {
        match self.mode {
            _ if local => &[SslMode::Disable],
            Mode::Disable => &[SslMode::Disable],
            Mode::Allow => &[SslMode::Disable, SslMode::Require],
            Mode::Prefer => &[SslMode::Prefer, SslMode::Disable],
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => &[SslMode::Require],
        }
    }

    /// What speaks TLS.
    pub(super) fn connector(&self) -> Result<MakeRustlsConnect, SecurityError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let file = match (&self.root, self.mode) {
            (Some(Root::File(path)), Mode::VerifyCa | Mode::VerifyFull) => {
                Some(certificates("sslrootcert", path)?)
            }
            _ => None,
        };
        let verifier = verifier(self.mode, file, &provider)?;
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let mut config = match &self.identity {
            None => config.with_no_client_auth(),
            Some((path, key)) => {
                let chain = certificates("sslcert", path)?;
                let key = PrivateKeyDer::from_pem_file(key)
                    .map_err(|error| unusable("sslkey", key, &error))?;
                config.with_client_auth_cert(chain, key)?
            }
        };
        // A server that is spoken to without an introduction insists on it.
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(MakeRustlsConnect::new(config))
    }
}

fn certificates(
    parameter: &'static str,
    path: &Path,
) -> Result<Vec<CertificateDer<'static>>, SecurityError> {
    let found = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    let found: Vec<_> = found.map_err(|error| unusable(parameter, path, &error))?;
    if found.is_empty() {
        return Err(unusable(parameter, path, &"it has no certificate in PEM form"));
    }
    Ok(found)
}

fn unusable(
    parameter: &'static str,
    path: &Path,
    problem: &dyn std::fmt::Display,
) -> SecurityError {
    SecurityError::File { parameter, path: path.to_owned(), problem: problem.to_string() }
}
