//! What must hold in the database between any two steps, found by reading all of it.

use super::{caller, store};
use crate::domain::{
    GenerationRequest, NewJob, NewVault, Reserved, VaultVisibility, output_prompt,
};
use crate::store::postgres::PostgresStore;
use crate::store::{JobStore, Store};

/// A query for each thing that must never be, with its name.
const NEVER: [(&str, &str); 8] = [
    (
        "a vault's count is not the number of its memberships",
        "SELECT 1 FROM vault v WHERE prompt_count <> (SELECT count(*) FROM membership m \
         WHERE m.account_id = v.account_id AND m.vault_id = v.id)",
    ),
    (
        "an account has not exactly one system vault, or it is not its General vault",
        "SELECT 1 FROM account a WHERE ARRAY[general_vault_id] <> \
         ARRAY(SELECT v.id FROM vault v WHERE v.account_id = a.id AND v.system)",
    ),
    (
        "a slug is twice in an account",
        "SELECT 1 FROM vault GROUP BY account_id, slug HAVING count(*) > 1",
    ),
    (
        "a membership is not of its prompt's type",
        "SELECT 1 FROM membership m JOIN prompt p ON p.account_id = m.account_id \
         AND p.id = m.prompt_id WHERE p.kind <> m.kind",
    ),
    (
        "a membership joins what is not there or is another account's",
        "SELECT 1 FROM membership m WHERE NOT EXISTS (SELECT 1 FROM prompt p \
         WHERE p.account_id = m.account_id AND p.id = m.prompt_id) OR NOT EXISTS \
         (SELECT 1 FROM vault v WHERE v.account_id = m.account_id AND v.id = m.vault_id)",
    ),
    (
        "a job that has ended is due, or another one is not, or is twice",
        "SELECT 1 FROM job WHERE num_nonnulls(due_at, submitting_since) <> \
         (state NOT IN ('completed', 'failed'))::integer",
    ),
    (
        "a job that has ended is under a lease",
        "SELECT 1 FROM job WHERE state IN ('completed', 'failed') AND fence IS NOT NULL",
    ),
    (
        "something was changed before it was made",
        "SELECT 1 FROM (SELECT created_at, updated_at FROM prompt UNION ALL SELECT created_at, \
         updated_at FROM vault UNION ALL SELECT created_at, updated_at FROM job) AS every \
         WHERE updated_at < created_at",
    ),
];

/// What does not hold.
pub(super) async fn broken(store: &PostgresStore) -> Vec<String> {
    let client = store.db.exclusive().await.unwrap();
    let mut broken = Vec::new();
    for (name, query) in NEVER {
        let found = client.query(query, &[]).await.unwrap().len();
        if found > 0 {
            broken.push(format!("{name}: {found} times"));
        }
    }
    broken
}

/// Ways to break each of them, constraints out of the way.
const BREAKING: [&str; 8] = [
    "UPDATE vault SET prompt_count = 7 WHERE system",
    "UPDATE vault SET system = false",
    "UPDATE vault SET slug = 'a'",
    "UPDATE membership SET kind = 'text'",
    "UPDATE membership SET vault_id = 777",
    "UPDATE job SET due_at = created_at, fence = NULL",
    "UPDATE job SET due_at = NULL, fence = gen_random_uuid()",
    "UPDATE prompt SET updated_at = created_at - interval '1 day'",
];

/// Without what keeps the database sound by itself.
const UNGUARDED: &str = "
    DO $$ DECLARE guard record; BEGIN
        FOR guard IN SELECT conname, conrelid::regclass AS relation FROM pg_constraint
            WHERE contype IN ('c', 'f') AND connamespace = 'public'::regnamespace
               OR conname = 'vault_account_id_slug_key'
        LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', guard.relation, guard.conname);
        END LOOP;
    END $$;";

/// Something of everything that can be broken.
async fn make_something(store: &PostgresStore) {
    let by = caller(store, "alice").await;
    let (name, visibility) = ("Sky".into(), VaultVisibility::Private);
    let vault = NewVault { name, description: None, visibility };
    let vault = store.create_vault(&by, vault).await.unwrap().id;
    let order = GenerationRequest { prompt: "A harbour".into(), ..GenerationRequest::default() };
    store.create_prompt(&by, output_prompt(&order, vault)).await.unwrap();
    let (client_job_id, order) = ("job".into(), order.into());
    let job = NewJob { client_job_id, digest: [7; 32], request: order, vault: None };
    let Reserved::New(job) = store.reserve_job(&by, job).await.unwrap() else { unreachable!() };
    store.job_lost(&job.key, "gone").await.unwrap();
}

#[tokio::test]
async fn each_broken_invariant_is_seen() {
    let (store, _database) = store().await;
    make_something(&store).await;
    assert_eq!(broken(&store).await, [""; 0]);
    store.db.exclusive().await.unwrap().batch_execute(UNGUARDED).await.unwrap();
    for ((name, query), breaking) in NEVER.iter().zip(BREAKING) {
        let client = store.db.exclusive().await.unwrap();
        client.batch_execute("BEGIN").await.unwrap();
        client.batch_execute(breaking).await.unwrap();
        let found = client.query(*query, &[]).await.unwrap().len();
        client.batch_execute("ROLLBACK").await.unwrap();
        assert!(found > 0, "{breaking:?} is not seen as: {name}");
    }
}
