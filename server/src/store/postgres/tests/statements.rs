//! Each statement names each table of account data with the account as a parameter.

use super::super::scratch::ScratchDatabase;
use super::plans::statements;
use super::rules::Catalogue;

/// Statements that name another account than `$1`, with the parameter that has it.
const OTHER_ACCOUNT: [(&str, u32, &str); 2] = [
    ("fork.source", 4, "the vault that is forked may be another account's"),
    ("fork.copy", 2, "the vault that is forked may be another account's"),
];

/// Statements that name no account in a parameter, with the reason.
const EXEMPT: [(&str, &str); 1] =
    [("jobs.ended", "a worker looks for the jobs of all accounts that ended long ago")];

/// The parameter that each reference of a statement to account data names as the account.
async fn accounts(catalogue: &Catalogue, sql: &str) -> Vec<Option<u32>> {
    let tree = catalogue.tree(sql).await;
    [catalogue.accounts_read(&tree), catalogue.accounts_inserted(&tree)].concat()
}

#[tokio::test]
async fn every_statement_names_account_data_with_the_account() {
    let database = ScratchDatabase::create().await.unwrap();
    let catalogue = Catalogue::of(&database).await;
    let (mut wrong, mut bound) = (Vec::new(), 0);
    for statement in statements() {
        let found = accounts(&catalogue, statement.sql).await;
        let own = found.iter().filter(|account| **account == Some(1)).count();
        let other = OTHER_ACCOUNT.iter().find(|(name, ..)| *name == statement.name);
        let others = other.map_or(0, |(_, number, _)| {
            found.iter().filter(|account| **account == Some(*number)).count()
        });
        let exempt = EXEMPT.iter().any(|(name, _)| *name == statement.name);
        let is_bound = own + others == found.len();
        if is_bound == exempt || (other.is_some() && others == 0) {
            wrong.push(format!("{}: {found:?}", statement.name));
        }
        bound += own;
    }
    assert!(wrong.is_empty(), "unbound, or an exception that is not needed: {wrong:#?}");
    assert!(bound > 70, "only {bound} references were seen");
}

#[tokio::test]
async fn a_statement_without_the_account_would_be_found() {
    let database = ScratchDatabase::create().await.unwrap();
    let catalogue = Catalogue::of(&database).await;
    let insert = "INSERT INTO vault (name, account_id, slug, visibility, created_at, updated_at)";
    for (sql, expected) in [
        ("SELECT 1 FROM prompt p WHERE p.account_id = $1", &[Some(1)][..]),
        ("SELECT 1 FROM prompt p WHERE p.id = $1 AND p.account_id = $2", &[Some(2)]),
        ("SELECT 1 FROM prompt WHERE id = $1", &[None]),
        (
            "SELECT 1 FROM prompt p JOIN vault v ON v.id = $2 WHERE p.account_id = $1",
            &[Some(1), None],
        ),
        ("SELECT 1 FROM prompt p JOIN vault v ON v.account_id = p.account_id", &[None, None]),
        (
            "SELECT 1 FROM job WHERE vault_id = (SELECT 1 FROM api_key WHERE account_id = $1)",
            &[None],
        ),
        (
            "SELECT 1 FROM prompt p WHERE EXISTS (SELECT FROM account WHERE p.account_id = $1)",
            &[None],
        ),
        (
            "WITH v AS (SELECT 1 FROM vault o WHERE o.account_id = $1) \
             DELETE FROM vault_prompt m USING v WHERE m.account_id = $1",
            &[Some(1), Some(1)],
        ),
        ("UPDATE vault v SET name = 'account_id = $1' WHERE v.id = $1", &[None]),
        (&format!("{insert} SELECT $2, $1, 's', 'private', now(), now()"), &[Some(1)]),
        (&format!("{insert} SELECT $1, $2, 's', 'private', now(), now()"), &[Some(2)]),
        (&format!("{insert} SELECT $1, id, 's', 'private', now(), now() FROM account"), &[None]),
    ] {
        let mut found = accounts(&catalogue, sql).await;
        found.sort_by_key(Option::is_none);
        assert_eq!(found, expected, "{sql}");
    }
}
