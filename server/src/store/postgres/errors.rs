//! What an error of the driver means.

use tokio_postgres::Error;
use tokio_postgres::error::Severity;

use crate::store::StoreError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ErrorClass {
    /// Another statement got in between, and this one was rolled back: send it again.
    Conflict,
    /// Nothing was executed: the server takes no writes any more, or a pooler has mixed up the
    /// prepared statement. Send it again, over a new connection.
    OtherServer,
    /// The connection broke or its server shut down. The statement may have been executed.
    ConnectionLost,
    /// Citus may have lost a node. Its own connections work.
    NodeLost,
    /// The server cannot do it for the moment. It is not sent again.
    Unavailable,
    /// The same, until its disk has space.
    Full,
    Fault,
}

/// The class of each SQLSTATE that is or begins so; any other is a fault.
const CLASSES: [(&[&str], ErrorClass); 6] = [
    // Serialization failure, deadlock, violated foreign key, violated unique index.
    (&["40001", "40P01", "23503", "23505"], ErrorClass::Conflict),
    // Read-only transaction; "cached plan must not change result type"; a statement's name that is
    // unknown or known already; parameters of another type. Not those of another number: PgBouncer
    // has their code, 08P01, for lost connections too.
    (&["25006", "0A000", "26000", "42P05", "22P03"], ErrorClass::OtherServer),
    // Idle in a transaction for too long, shutdown or crash, connection exception.
    (&["25P03", "57P", "08"], ErrorClass::ConnectionLost),
    // Internal error, error of input or output, failed transaction.
    (&["XX000", "58030", "25P02"], ErrorClass::NodeLost),
    (&["53100"], ErrorClass::Full),
    // Cancelled, as by `statement_timeout`; lock not available; no memory, disk or connections.
    (&["57014", "55P03", "53"], ErrorClass::Unavailable),
];

pub(super) fn classify(error: &Error) -> ErrorClass {
    if let Some(state) = error.code() {
        let is = |codes: &[&str]| codes.iter().any(|code| state.code().starts_with(code));
        let class = CLASSES.iter().find(|(codes, _)| is(codes));
        return match class.map_or(ErrorClass::Fault, |(_, class)| *class) {
            ErrorClass::ConnectionLost if is_of_statement(error) => ErrorClass::NodeLost,
            class => class,
        };
    }
    let io = |cause: &(dyn std::error::Error + 'static)| cause.is::<std::io::Error>();
    let lost = error.is_closed() || std::error::Error::source(error).is_some_and(io);
    if lost { ErrorClass::ConnectionLost } else { ErrorClass::Fault }
}

/// Whether a statement failed, after which the session goes on.
pub(super) fn is_of_statement(error: &Error) -> bool {
    error.as_db_error().is_some_and(|error| error.parsed_severity() == Some(Severity::Error))
}

/// Whether it may work in a while.
pub(super) fn is_temporary(error: &Error) -> bool {
    use ErrorClass as E;
    matches!(classify(error), E::ConnectionLost | E::Unavailable | E::Full)
}

/// What the store's caller gets for an error of the driver, if nothing was changed.
pub(super) fn store_error(error: Error) -> StoreError {
    match classify(&error) {
        ErrorClass::Fault => StoreError::Internal(Box::new(error)),
        ErrorClass::Full => StoreError::Full(Box::new(error)),
        _ => StoreError::Unavailable(Box::new(error)),
    }
}
