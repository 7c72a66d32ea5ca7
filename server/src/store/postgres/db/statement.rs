//! One SQL statement, as a value: prepared once a connection, named in logs, and
//! found by the test that looks at all query plans.

/// What may be done when nobody knows whether a statement was carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store::postgres) enum Again {
    /// Twice is the same as once.
    Yes,
    /// It must not be sent again.
    No,
}

/// A statement. Each stands in the room it belongs to, which lists it in its `ALL`.
#[derive(Debug)]
pub(in crate::store::postgres) struct Statement {
    /// Such as `prompts.create`.
    pub(in crate::store::postgres) name: &'static str,
    /// Parameters have casts, such as `$1::bigint`, where their type is not plain.
    pub(in crate::store::postgres) sql: &'static str,
    /// Whether it is sent again after a connection broke under it.
    pub(in crate::store::postgres) again: Again,
}

impl Statement {
    /// One that only looks.
    pub(in crate::store::postgres) const fn reading(name: &'static str, sql: &'static str) -> Self {
        Self { name, sql, again: Again::Yes }
    }

    /// One that changes something, and something else when it is sent twice.
    pub(in crate::store::postgres) const fn writing(name: &'static str, sql: &'static str) -> Self {
        Self { name, sql, again: Again::No }
    }
}
