//! SQL statements, and how a module declares its own.

/// One SQL statement: prepared once per connection, and named in logs.
#[derive(Debug)]
pub(super) struct Statement {
    /// Such as `prompts.create`; each statement has its own.
    pub(super) name: &'static str,
    /// Parameters have casts, such as `$1::bigint`, where their type is not plain.
    pub(super) sql: &'static str,
    /// Whether it may be sent again if it may have been executed.
    pub(super) idempotent: bool,
    /// Whether it goes over a connection that others use at the same time.
    pub(super) shared: bool,
    pub(super) writes: bool,
}

impl Statement {
    /// A short read, which changes nothing and takes no row locks.
    pub(super) const fn read_only(name: &'static str, sql: &'static str) -> Self {
        Self { name, sql, idempotent: true, shared: true, writes: false }
    }

    pub(super) const fn long_read(name: &'static str, sql: &'static str) -> Self {
        Self { shared: false, ..Self::read_only(name, sql) }
    }

    pub(super) const fn idempotent(name: &'static str, sql: &'static str) -> Self {
        Self { writes: true, ..Self::long_read(name, sql) }
    }

    pub(super) const fn non_idempotent(name: &'static str, sql: &'static str) -> Self {
        Self { idempotent: false, ..Self::idempotent(name, sql) }
    }

    /// A short write that waits for no lock that another statement may hold for long.
    pub(super) const fn pipelined(name: &'static str, sql: &'static str) -> Self {
        Self { shared: true, ..Self::non_idempotent(name, sql) }
    }
}

/// Declares the statements of a module: the function of [`Statement`] that makes it, the name, the
/// name in logs, and the SQL as for `formatcp`.
macro_rules! statements {
    ($($(#[$doc:meta])* $vis:vis $kind:ident $name:ident $log_name:literal $sql:tt
        $({ $($key:ident = $value:expr),* })?;)*) => {
        $($(#[$doc])* $vis static $name: $crate::store::postgres::statement::Statement =
            $crate::store::postgres::statement::Statement::$kind(
                $log_name,
                const_format::formatcp!($sql $($(, $key = $value)*)?),
            );)*

        #[cfg(test)]
        pub(super) static ALL: &[&$crate::store::postgres::statement::Statement] = &[$(&$name),*];
    };
}
