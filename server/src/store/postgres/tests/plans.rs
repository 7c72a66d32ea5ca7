//! Query plans: no statement may scan a whole table.
//!
//! Plans are generic ones (`force_generic_plan`) on a database with many accounts, with
//! sequential scans all but forbidden (`enable_seqscan = off`). If one is planned all the
//! same, an index is missing. The last tests hold that every statement in the sources is planned.

mod costs;
mod plan;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use deadpool::managed::Object;

use self::plan::Plan;
use super::super::statement::Statement;
use super::super::{
    account_changes, accounts, import, job_queue, jobs, keys, listing, memberships, prompt_changes,
    prompts, search, send, sessions, vaults, webhooks,
};
use super::store;
use crate::store::postgres::connect::Connector;
use crate::store::postgres::scratch::ScratchDatabase;

/// The statements of every module.
const MODULES: [&[&Statement]; 15] = [
    account_changes::ALL,
    accounts::ALL,
    import::ALL,
    job_queue::ALL,
    jobs::ALL,
    keys::ALL,
    listing::ALL,
    memberships::ALL,
    prompt_changes::ALL,
    prompts::ALL,
    search::ALL,
    send::ALL,
    sessions::ALL,
    vaults::ALL,
    webhooks::ALL,
];

/// Statements that may scan a whole table, with the reason.
const WHOLE_TABLE: [(&str, &str); 7] = [
    ("accounts.create", "it checks whether there is an account, and stops at the first row"),
    ("accounts.delete", "there are few codes"),
    ("accounts.list", "the operator asked for all accounts"),
    ("accounts.revoke_others", "there are few codes"),
    ("keys.list", "the operator asked for all keys"),
    ("settings.all", "there are few settings"),
    ("webhooks.all", "the operator asked for all webhooks"),
];

pub(super) fn statements() -> impl Iterator<Item = &'static Statement> {
    MODULES.into_iter().flatten().copied()
}

/// A hundred accounts, each with prompts, vaults and jobs.
const MANY: [u32; 5] = [100, 10, 0, 20_000, 5_000];
/// Ten thousand accounts that have next to nothing, and one with a thousand of everything.
const SMALL: [u32; 5] = [10_000, 1, 1_000, 11_000, 11_000];

/// SQL for so many accounts, vaults of each, more vaults of one, prompts and jobs; and statistics.
fn data([accounts, vaults, more, prompts, jobs]: [u32; 5]) -> String {
    let owner =
        format!("CASE WHEN {more} = 0 OR at <= {accounts} THEN 1 + at % {accounts} ELSE 50 END");
    format!(
        "SET session_replication_role = replica;
        INSERT INTO account (id, name, created_at)
            SELECT id, id, now() FROM generate_series(1, {accounts}) AS id;
        INSERT INTO api_key (account_id, public_id, digest, prompts_write, created_at)
            SELECT id, id, sha256(''), true, now() FROM account;
        INSERT INTO api_key (account_id, public_id, digest, prompts_write, created_at)
            SELECT 1 + at % {accounts}, 'session_' || at, sha256(at::text::bytea), true, now()
            FROM generate_series(1, 2000) AS at;
        INSERT INTO session (key_id, digest, last_seen_at, expires_at)
            SELECT id, digest, now(), now() FROM api_key WHERE public_id LIKE 'session%';
        INSERT INTO sign_in_code (digest, account_id, expires_at)
            SELECT sha256(at::text::bytea), 1, now() FROM generate_series(1, 500) AS at;
        INSERT INTO vault
            (account_id, id, name, slug, visibility, system, created_at, updated_at)
            SELECT account.id, account.id * 10 + at, 'v', at::text, 'public', at = 0, now(), now()
            FROM account, generate_series(0, {vaults} - 1) AS at
            UNION ALL SELECT 50, 1000000 + at, 'v', 'more' || at, 'public', false, now(), now()
            FROM generate_series(1, {more}) AS at;
        INSERT INTO vault_directory (vault_id, account_id) SELECT id, account_id FROM vault;
        INSERT INTO prompt (account_id, id, kind, title, body, created_at, updated_at)
            SELECT {owner}, at, (ARRAY['text', 'image', 'video'])[1 + at % 3],
                't', 'b', now(), now()
            FROM generate_series(1, {prompts}) AS at;
        INSERT INTO vault_prompt (account_id, vault_id, prompt_id, kind)
            SELECT account_id, account_id * 10 + at, id, kind
            FROM prompt, generate_series(0, least({vaults}, 2) - 1) AS at;
        INSERT INTO job (account_id, name_digest, client_job_id, request_digest, reservation,
                request, vault_id, state, request_id, provider_state, reason, claimable_at,
                created_at, updated_at)
            SELECT {owner}, sha256(at::text::bytea), at, sha256(''), gen_random_uuid(),
                '{{}}', 10, CASE WHEN at % 5 = 0 THEN 'queued' ELSE 'failed'
                END, 'r', 'm', CASE WHEN at % 5 = 0 THEN NULL ELSE 'r' END,
                CASE WHEN at % 5 = 0 THEN now() END, now(), now()
            FROM generate_series(1, {jobs}) AS at;
        INSERT INTO due_job (account_id, name_digest, submitting, due_at)
            SELECT account_id, name_digest, get_byte(name_digest, 0) < 128, now() FROM job;
        INSERT INTO webhooks (account_id, version, document)
            SELECT id, 1, '{{}}' FROM account;
        INSERT INTO webhook_delivery (account_id, webhook_id, id, details, created_at, due_at)
            SELECT account_id, account_id, name_digest::text, '{{}}', now(),
                CASE WHEN get_byte(name_digest, 0) < 10 THEN now() END
            FROM job WHERE get_byte(name_digest, 0) < 50;
        SET session_replication_role = DEFAULT;
        ANALYZE;"
    )
}

/// Autovacuum would change plans at any moment.
const NO_AUTOVACUUM: &str = "
    DO $$ DECLARE name regclass; BEGIN
        FOR name IN SELECT oid FROM pg_class
            WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
        LOOP EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = false)', name); END LOOP;
    END $$;";

/// A connection with these planner settings, to a database that is dropped with the second
/// value.
async fn planner(data: &str) -> (Object<Connector>, ScratchDatabase) {
    let (store, database) = store().await;
    let client = store.db.exclusive().await.unwrap();
    client.batch_execute(NO_AUTOVACUUM).await.unwrap();
    client.batch_execute(data).await.unwrap();
    let settings = "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off;";
    client.batch_execute(settings).await.unwrap();
    (client, database)
}

/// What a vacuum changes for the planner: an index-only scan looks cheaper. A real one leaves out
/// the pages that other tests on this server could still see.
const VACUUMED: &str = "UPDATE pg_class SET relallvisible = relpages
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace";

/// The plans of all statements for both kinds of data, before a vacuum and after it.
async fn plans() -> Vec<(&'static Statement, Plan)> {
    let mut plans = Vec::new();
    for counts in [MANY, SMALL] {
        let (client, _database) = planner(&data(counts)).await;
        for vacuum in ["", VACUUMED] {
            client.batch_execute(vacuum).await.unwrap();
            for statement in statements() {
                plans.push((statement, plan(&client, statement.sql).await));
            }
        }
    }
    plans
}

/// The columns of each index.
async fn indexes(client: &Object<Connector>) -> BTreeMap<String, Vec<String>> {
    let sql = "SELECT indexrelid::regclass::text, array_agg(attname::text ORDER BY attnum)
        FROM pg_index JOIN pg_attribute ON attrelid = indexrelid GROUP BY 1";
    let rows = client.query(sql, &[]).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

async fn plan(client: &Object<Connector>, sql: &str) -> Plan {
    let parameters = client.prepare(sql).await.unwrap().params().len();
    let nothing = vec!["NULL"; parameters].join(", ");
    let given = if parameters == 0 { String::new() } else { format!("({nothing})") };
    client.batch_execute(&format!("PREPARE explained AS {sql}")).await.unwrap();
    let explain = format!("EXPLAIN (FORMAT JSON) EXECUTE explained{given}");
    let answer = client.query_one(&explain, &[]).await.unwrap();
    client.batch_execute("DEALLOCATE explained").await.unwrap();
    Plan::new(answer.get(0))
}

#[tokio::test]
async fn no_statement_scans_a_table_or_filters_by_a_key_and_no_page_sorts_more_than_its_rows() {
    let (client, _database) = planner("").await;
    let indexes = indexes(&client).await;
    let (mut scans, mut wrong) = (BTreeMap::<_, BTreeSet<_>>::new(), BTreeSet::new());
    for (Statement { name, .. }, plan) in plans().await {
        scans.entry(*name).or_default().extend(plan.whole_scans());
        // It picks two of the vaults of one prompt.
        if *name != "memberships.move_count" {
            let keys = plan.filtered_ids(&indexes);
            wrong.extend(keys.iter().map(|key| format!("{name} filters by a key: {key}")));
        }
        if *name == "jobs.list" || name.starts_with("listing.") || name.starts_with("search.texts")
        {
            let sorts = plan.unlimited_sorts();
            wrong.extend(sorts.iter().map(|sort| format!("{name} sorts more than a page: {sort}")));
        }
    }
    for (name, whole) in scans {
        match (whole.is_empty(), WHOLE_TABLE.iter().any(|(allowed, _)| *allowed == name)) {
            (false, false) => drop(wrong.insert(format!("{name} scans a table: {whole:?}"))),
            (true, true) => drop(wrong.insert(format!("{name} needs no exception"))),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn read_only_statements_change_and_lock_nothing() {
    let (client, _database) = planner(&data(MANY)).await;
    for statement in statements() {
        let plan = plan(&client, statement.sql).await;
        let acts = plan.acts();
        if statement.name == "accounts.lock" || statement.name.ends_with("_ids") {
            // What they do is in no plan.
            continue;
        }
        assert_eq!(!statement.writes, acts.is_empty(), "{}: {acts:?}", statement.name);
    }
}

#[tokio::test]
async fn a_statement_without_an_index_would_be_found() {
    let (client, _database) = planner(&data(MANY)).await;
    client.batch_execute(VACUUMED).await.unwrap();
    let indexes = indexes(&client).await;
    let keys = async |sql: &str| plan(&client, sql).await.filtered_ids(&indexes);
    assert!(keys("SELECT title FROM prompt WHERE account_id = $1 AND id = $2").await.is_empty());
    // All jobs of the account in an index that has `created_at` before the name.
    let job = "SELECT created_at, name_digest FROM job \
               WHERE account_id = $1 AND name_digest = $2 AND state <> 'submitting'";
    assert_eq!(keys(job).await.len(), 1);
    for (sql, whole) in [
        ("SELECT 1 FROM prompt WHERE title = $1", Some("Seq Scan on prompt")),
        ("SELECT 1 FROM prompt WHERE account_id = $1 AND id = $2", None),
        // A full scan of an index is no better than one of the table.
        ("SELECT id FROM account WHERE id + 1 = $1 ORDER BY id", Some("account_pkey")),
        // Nor are all rows of an account.
        ("SELECT 1 FROM prompt WHERE account_id = $1 AND title = $2", Some(" on prompt")),
        ("SELECT 1 FROM vault WHERE account_id = $1 AND name = $2", None),
        // Nor an index condition without the account.
        ("SELECT 1 FROM vault_prompt WHERE id = $1", Some(" on vault_prompt")),
        (
            "WITH found AS (SELECT account_id FROM vault WHERE name = $1) UPDATE prompt p \
             SET title = '' FROM found WHERE p.account_id = found.account_id AND p.id = $2",
            // Of the vaults or, on PostgreSQL 18, of the prompts.
            Some(" on "),
        ),
        ("SELECT 1 FROM generate_series(1, $1) CROSS JOIN (VALUES (1), (2)) AS two (n)", None),
    ] {
        let found = plan(&client, sql).await.whole_scans();
        match whole {
            Some(whole) => {
                assert!(found.len() == 1 && found[0].contains(whole), "{sql}: {found:?}");
            }
            None => assert!(found.is_empty(), "{sql}: {found:?}"),
        }
    }
    let sorts = async |sql: &str| plan(&client, sql).await.unlimited_sorts();
    let page = "SELECT * FROM prompt WHERE account_id = $1 ORDER BY id DESC LIMIT 5";
    assert!(sorts(page).await.is_empty());
    assert!(sorts(&format!("SELECT * FROM ({page}) p ORDER BY title")).await.is_empty());
    assert_eq!(sorts(&page.replace("id DESC", "title")).await.len(), 1);
}

/// Modules that may send SQL that is not a `Statement`, with the reason.
const EXCEPTIONS: [(&str, &str); 5] = [
    ("connect.rs", "it sets up sessions, and checks for a pooler"),
    ("send.rs", "it sends several of them in one transaction"),
    ("migrate", "it runs at the start, and its table has one row per migration"),
    ("distribute.rs", "it changes the schema"),
    ("scratch", "it creates databases for tests"),
];

/// The sources, without tests and white space, with their names.
fn sources() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store");
    let modules = fs::read_dir(folder.join("postgres")).unwrap();
    let files = modules.map(|file| file.unwrap().path()).chain([folder.join("postgres.rs")]);
    let named = files.filter(|file| file.is_file() && !file.ends_with("tests.rs")).map(|file| {
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap();
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        (name, code.split_whitespace().collect::<String>())
    });
    named.collect()
}

#[test]
fn the_statements_of_every_module_are_explained_and_have_names_of_their_own() {
    let declaring = sources().iter().filter(|(_, code)| code.contains("statements!{")).count();
    assert_eq!(declaring, MODULES.len(), "a module is not among MODULES");
    let names: BTreeSet<_> = statements().map(|statement| statement.name).collect();
    assert_eq!(names.len(), statements().count(), "two statements have one name");
}

#[test]
fn only_declared_statements_are_sent() {
    let sending = [".query(\"", ".query_one(\"", ".query_opt(\"", ".execute(\"", "batch_execute("];
    for (path, code) in sources() {
        let apart = EXCEPTIONS.iter().any(|(start, _)| path.starts_with(start));
        let found = sending.iter().find(|call| code.contains(**call));
        assert!(apart || found.is_none(), "{path}: {found:?}");
    }
}
