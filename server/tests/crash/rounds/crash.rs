//! The ways to die.

use std::fmt;

/// What happens in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Crash {
    /// A server is killed while all are asked; the load goes on with the other.
    Server,
    /// A server is killed while its workers are at work on jobs.
    Worker,
    /// PostgreSQL ends at once and is started again.
    Database,
}

impl Crash {
    pub(crate) const ALL: [Self; 3] = [Self::Server, Self::Worker, Self::Database];
}

impl fmt::Display for Crash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Server => "a server killed under load",
            Self::Worker => "a server killed in mid-job",
            Self::Database => "PostgreSQL stopped at once",
        })
    }
}
