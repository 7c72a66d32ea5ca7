//! Data for tests of SQL, created by plain SQL.

use std::sync::atomic::{AtomicU32, Ordering};

use promptarium::VaultId;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::domain::{AccountId, Caller, KeyId, NewPrompt, PromptInputs, PromptKind, Scopes};
use crate::store::postgres::PostgresStore;

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// The caller of a key of a new account, and the account's General vault.
pub(in crate::store::postgres) async fn account(store: &PostgresStore) -> (Caller, VaultId) {
    let name = format!("account {}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let statement = "WITH ids AS (
             SELECT nextval('account_id_seq') AS account, nextval('vault_id_seq') AS vault
         ), v AS (
             INSERT INTO vault
                 (account_id, id, name, slug, visibility, system, created_at, updated_at)
             SELECT account, vault, 'General', 'general', 'private', true, now(), now() FROM ids
         ), a AS (
             INSERT INTO account (id, name, general_vault_id, created_at)
             SELECT account, $1, vault, now() FROM ids
         ), k AS (
             INSERT INTO api_key (account_id, public_id, digest, prompts_write, created_at)
             SELECT account, $1, decode(repeat('07', 32), 'hex'), true, now() FROM ids
             RETURNING id
         )
         SELECT ids.account, ids.vault, k.id FROM ids CROSS JOIN k";
    // A key refers to its account at once, so the account comes in the same statement.
    let rows = query(store, statement, &[&name]).await;
    let [account, vault, key] = [0, 1, 2].map(|at| rows[0].get::<_, i64>(at));
    let caller = Caller { key: KeyId(key), account: AccountId(account), scopes: Scopes::ALL };
    (caller, VaultId::new(vault))
}

/// A new, empty vault.
pub(in crate::store::postgres) async fn vault(store: &PostgresStore, by: &Caller) -> VaultId {
    let slug = format!("vault-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let statement = "INSERT INTO vault (account_id, name, slug, visibility, created_at, updated_at)
         VALUES ($1, 'Sky', $2, 'private', now(), now()) RETURNING id";
    let rows = query(store, statement, &[&by.account.0, &slug]).await;
    VaultId::new(rows[0].get(0))
}

/// Deletes a vault with its memberships.
pub(in crate::store::postgres) async fn drop_vault(store: &PostgresStore, vault: VaultId) {
    query(store, "DELETE FROM vault WHERE id = $1", &[&vault.get()]).await;
}

/// Revokes all of an account's keys.
pub(in crate::store::postgres) async fn revoke(store: &PostgresStore, by: &Caller) {
    let statement = "UPDATE api_key SET revoked_at = now() WHERE account_id = $1";
    query(store, statement, &[&by.account.0]).await;
}

/// The number that a statement returns.
pub(in crate::store::postgres) async fn number(store: &PostgresStore, statement: &str) -> i64 {
    query(store, statement, &[]).await[0].get(0)
}

/// All rows of a statement.
pub(in crate::store::postgres) async fn query(
    store: &PostgresStore,
    statement: &str,
    params: &[&(dyn ToSql + Sync)],
) -> Vec<Row> {
    store.db.exclusive().await.unwrap().query(statement, params).await.unwrap()
}

/// A new prompt with all inputs.
pub(in crate::store::postgres) fn new(kind: PromptKind, vault: Option<VaultId>) -> NewPrompt {
    let model_id = kind.needs_model().then(|| "local/plasma".into());
    NewPrompt {
        title: "A title".into(),
        text: "A text".into(),
        kind,
        platform: Some("a platform".into()),
        inputs: PromptInputs {
            model_id,
            aspect_ratio: Some("16:9".into()),
            image_url: Some("https://example.com/a.png".into()),
            reference_media_urls: Some(["https://example.com/b.png".into()].into()),
        },
        vault,
    }
}
