//! What the servers of a database remember: the signing key, public URLs, and where files are.

use std::collections::BTreeMap;

use tokio_postgres::Row;

use super::PostgresStore;
use super::rows::{column, one};
use super::send::{By, Params};
use crate::store::{Replace, Result};

statements! {
    /// An existing value stays, unless it is `$3` or `$4` says that it may be any.
    idempotent SET "settings.set"
        "INSERT INTO setting (name, value) VALUES ($1, $2::bytea)
         ON CONFLICT (name) DO UPDATE SET value =
             CASE WHEN $4::boolean OR setting.value = $3::bytea THEN excluded.value
                 ELSE setting.value END
         RETURNING value";
    read_only SETTINGS "settings.all" "SELECT name, value FROM setting";
}

impl PostgresStore {
    pub(super) async fn read_settings(&self) -> Result<BTreeMap<String, Vec<u8>>> {
        let setting = |row: &Row| Ok((column(row, "name")?, column(row, "value")?));
        self.db.rows(By::Server, &SETTINGS, &[]).await?.iter().map(setting).collect()
    }

    pub(super) async fn set_setting(
        &self,
        name: &str,
        value: &[u8],
        replace: Replace<'_>,
    ) -> Result<Vec<u8>> {
        let only = if let Replace::Only(value) = replace { Some(value) } else { None };
        let params: Params<'_> = &[&name, &value, &only, &(replace == Replace::Any)];
        let rows = self.db.rows(By::Server, &SET, params).await?;
        column(one(&rows)?, "value")
    }
}
