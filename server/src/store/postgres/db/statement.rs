//! One SQL statement, as a value: prepared once a connection, named in logs, and
//! found by the test that looks at all query plans.

/// What a statement does to the database, and so how it may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store::postgres) enum Effect {
    /// None, and it waits for nobody. It may go over a shared connection, and be
    /// sent again when nobody knows whether it was carried out.
    None,
    /// Twice is the same as once, so it may be sent again too.
    Once,
    /// It must not be sent again.
    Each,
}

/// A statement. Each stands in the room it belongs to, which lists it in its `ALL`.
#[derive(Debug)]
pub(in crate::store::postgres) struct Statement {
    /// Such as `prompts.create`.
    pub(in crate::store::postgres) name: &'static str,
    /// Parameters have casts, such as `$1::bigint`, where their type is not plain.
    pub(in crate::store::postgres) sql: &'static str,
    /// What it does.
    pub(in crate::store::postgres) effect: Effect,
}

impl Statement {
    /// One that only looks: it changes nothing and takes no locks of rows.
    pub(in crate::store::postgres) const fn reading(name: &'static str, sql: &'static str) -> Self {
        Self { name, sql, effect: Effect::None }
    }

    /// One that changes something, and nothing more when it is sent twice.
    pub(in crate::store::postgres) const fn settling(
        name: &'static str,
        sql: &'static str,
    ) -> Self {
        Self { name, sql, effect: Effect::Once }
    }

    /// One that changes something, and something else when it is sent twice.
    pub(in crate::store::postgres) const fn writing(name: &'static str, sql: &'static str) -> Self {
        Self { name, sql, effect: Effect::Each }
    }

    /// Whether it may be sent again after a connection broke under it.
    pub(in crate::store::postgres) fn bears_repeating(&self) -> bool {
        self.effect != Effect::Each
    }
}
