//! Why an embedded server did not start.

use crate::domain::PublicUrlError;
use crate::start::StartError;
use crate::store::postgres::ConnectError;

/// Why an [`EmbeddedServer`](super::EmbeddedServer) did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// A text given to [`seed_key`](super::EmbeddedServerBuilder::seed_key) is not valid.
    #[error("seed key number {position} {problem}")]
    Seed {
        /// Which one, counting from 1.
        position: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// The vendor is not of lower-case letters and digits.
    #[error("the vendor must be lower-case letters and digits")]
    Vendor,
    /// The model namespace is not of letters, digits, `.`, `_` and `-`.
    #[error("the model namespace must be letters, digits, `.`, `_` or `-`")]
    ModelNamespace,
    /// The database cannot be used.
    #[error("the database cannot be used: {0}")]
    Database(#[from] ConnectError),
    /// The service could not be assembled.
    #[error("the service could not be started")]
    Start(#[from] StartError),
    /// The public URL is not valid.
    #[error("the public URL {0}")]
    PublicUrl(#[from] PublicUrlError),
    /// No port could be bound.
    #[error("no port of this machine could be bound")]
    Listen(#[from] std::io::Error),
}
