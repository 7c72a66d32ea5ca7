//! What pages and counts cost in a large account.

use promptarium::limits;

use crate::store::postgres::PostgresStore;
use crate::store::postgres::listing::{
    ALL, ALL_PROMPTS, IN_VAULT, OF_KIND, OF_KIND_IN_VAULT, PAGE_MAX,
};
use crate::store::postgres::tests::fixture::{self, query};
use crate::store::postgres::tests::store;

#[test]
fn the_limit_in_the_sql_is_one_more_than_the_largest_page() {
    assert_eq!(usize::try_from(*limits::PAGE_SIZE.end()).unwrap(), PAGE_MAX);
    assert!(ALL.iter().all(|one| one.sql.contains(&format!("LIMIT {}\n", PAGE_MAX + 1))));
}

/// Blocks that a statement reads.
async fn blocks(store: &PostgresStore, statement: &str, arguments: &str) -> i64 {
    let client = store.db.exclusive().await.unwrap();
    let setting =
        "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET jit = off";
    client.batch_execute(&format!("{setting}; PREPARE page AS {statement}")).await.unwrap();
    let explain = format!("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE page{arguments}");
    // The first execution also reads the system catalogs.
    let mut found = serde_json::Value::Null;
    for _ in 0..2 {
        found = client.query_one(&explain, &[]).await.unwrap().get(0);
    }
    client.batch_execute("DEALLOCATE page; RESET ALL").await.unwrap();
    found[0]["Plan"]["Shared Hit Blocks"].as_i64().unwrap()
        + found[0]["Plan"]["Shared Read Blocks"].as_i64().unwrap()
}

#[tokio::test]
async fn a_page_costs_the_same_in_a_large_account() {
    let (store, _database) = store().await;
    let (by, vault) = fixture::account(&store).await;
    let fill = "WITH made AS (
             INSERT INTO prompt (account_id, kind, title, body, created_at, updated_at)
             SELECT $1, CASE WHEN n % 500 = 0 THEN 'video' ELSE 'text' END, 'T', 'B', now(), now()
             FROM generate_series(1, $3::integer) n RETURNING id, kind
         )
         INSERT INTO membership (account_id, vault_id, prompt_id, kind)
         SELECT $1, $2, id, kind FROM made";
    query(&store, fill, &[&by.account.0, &vault.get(), &5_000]).await;
    let vault = vault.get();
    for (statement, more) in [
        (&ALL_PROMPTS, String::new()),
        (&OF_KIND, ", 'video'".into()),
        (&IN_VAULT, format!(", {vault}")),
        (&OF_KIND_IN_VAULT, format!(", {vault}, 'video'")),
    ] {
        let arguments = format!("({}, {}, 3{more})", by.key.0, i64::MAX);
        let blocks = blocks(&store, statement.sql, &arguments).await;
        assert!(blocks < 80, "{} read {blocks} blocks for 3 prompts", statement.name);
    }
}

/// The trigger function's statement is planned once per connection.
#[tokio::test]
async fn a_count_finds_its_vault_by_key_after_an_insert_of_many_memberships() {
    let (store, _database) = store().await;
    let (by, general) = fixture::account(&store).await;
    let vaults = "INSERT INTO vault (account_id, name, slug, visibility, created_at, updated_at)
         SELECT $1, 'V', 'v-' || n, 'private', now(), now() FROM generate_series(1, 2000) n";
    query(&store, vaults, &[&by.account.0]).await;
    let prompts = "INSERT INTO prompt (account_id, kind, title, body, created_at, updated_at)
         SELECT $1, 'text', 'T', 'B', now(), now() FROM generate_series(1, 20000)";
    query(&store, prompts, &[&by.account.0]).await;
    query(&store, "ANALYZE", &[]).await;

    let mut client = store.db.exclusive().await.unwrap();
    let transaction = client.transaction().await.unwrap();
    let join = "INSERT INTO membership (account_id, vault_id, prompt_id, kind)
         SELECT account_id, $1, id, kind FROM prompt ORDER BY id LIMIT $2";
    transaction.execute(join, &[&general.get(), &20_000_i64]).await.unwrap();
    let scans = "SELECT seq_scan FROM pg_stat_xact_user_tables WHERE relname = 'vault'";
    let before: i64 = transaction.query_one(scans, &[]).await.unwrap().get(0);
    transaction.execute(join, &[&(general.get() + 1), &1_i64]).await.unwrap();
    let after: i64 = transaction.query_one(scans, &[]).await.unwrap().get(0);
    assert_eq!(after - before, 0, "all vaults were read to count one prompt");
}
