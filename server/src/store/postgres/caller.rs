//! Who asks: the first part of every statement of a caller.

/// The account of the key `$1`, if the key still holds; no row if it does not. With a
/// parameter such as `"$5"`, also the time: that parameter or the database's own.
macro_rules! caller {
    () => {
        "(SELECT account_id FROM api_key WHERE id = $1 AND revoked_at IS NULL)"
    };
    ($now:literal) => {
        concat!(
            "(SELECT account_id, coalesce(",
            $now,
            ", clock_timestamp()) AS now FROM api_key WHERE id = $1 AND revoked_at IS NULL)"
        )
    };
}
pub(super) use caller;
