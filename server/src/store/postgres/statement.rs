//! One SQL statement, as a value: prepared once per connection, named in logs, and found by the
//! test that checks all query plans.

/// What a statement does to the database, and so how it may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It changes nothing and takes no row locks. It goes over a shared connection and may be
    /// sent again.
    ReadOnly,
    /// Executed twice, it changes the same as once, so it may be sent again.
    Idempotent,
    /// It must not be sent again if it may have been executed.
    NonIdempotent,
}

/// A statement. Each module lists its own in `ALL`.
#[derive(Debug)]
pub(super) struct Statement {
    /// Such as `prompts.create`; each statement has its own.
    pub(super) name: &'static str,
    /// Parameters have casts, such as `$1::bigint`, where their type is not plain.
    pub(super) sql: &'static str,
    /// What it does.
    pub(super) effect: Effect,
    /// Whether it goes over a connection that others use at the same time.
    pub(super) shared: bool,
}

impl Statement {
    /// A short statement that changes nothing and takes no row locks.
    pub(super) const fn read_only(name: &'static str, sql: &'static str) -> Self {
        Self { name, sql, effect: Effect::ReadOnly, shared: true }
    }

    /// A statement that may be executed twice.
    pub(super) const fn idempotent(name: &'static str, sql: &'static str) -> Self {
        Self { name, sql, effect: Effect::Idempotent, shared: false }
    }

    /// A statement that must not be executed twice.
    pub(super) const fn non_idempotent(name: &'static str, sql: &'static str) -> Self {
        Self { name, sql, effect: Effect::NonIdempotent, shared: false }
    }

    /// A write that waits for no lock that another statement may hold for long.
    pub(super) const fn pipelined(self) -> Self {
        Self { shared: true, ..self }
    }
}
