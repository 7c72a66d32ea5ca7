//! Which database everything is kept in.

use super::args::Settings;
use super::reader::Reader;
use crate::store::postgres::{DatabaseUrl, Migration};

/// The most connections that may be asked for.
const POOL_MAX: usize = 10_000;

/// A database, and what may be done to it at the start.
#[derive(Clone, Debug)]
pub struct DatabaseConfig {
    /// Its address.
    pub url: DatabaseUrl,
    /// The flag or variable the address came by, for an error that only connecting
    /// shows.
    pub came_by: String,
    /// Whether its schema may be changed.
    pub migration: Migration,
}

/// `None` if there is none, or something about it is at fault. The rule's fault never
/// holds the address.
pub(super) fn database(given: &Settings, reader: &mut Reader<'_>) -> Option<DatabaseConfig> {
    let url = reader.one("database_url", given.database_url.as_ref(), |text| {
        DatabaseUrl::parse(text).map_err(|fault| format!("is no address of a database: {fault}"))
    });
    let migration = reader.one("migrate", Some(&given.migrate), |text| match text {
        "auto" => Ok(Migration::Auto),
        "off" => Ok(Migration::Off),
        _ => Err("must be auto or off".to_owned()),
    });
    let absent = given.database_url.is_none();
    let pool = reader.one("database_pool", given.database_pool.as_ref(), |text| {
        if absent {
            return Err("needs a database, which --database-url names".to_owned());
        }
        let number = text.parse().ok().filter(|number| (1..=POOL_MAX).contains(number));
        number.ok_or_else(|| format!("must be an integer from 1 to {POOL_MAX}"))
    });
    let url = match (url?, pool) {
        (url, Some(connections)) => url.with_connections(connections),
        (url, None) => url,
    };
    Some(DatabaseConfig { url, came_by: reader.name("database_url"), migration: migration? })
}
