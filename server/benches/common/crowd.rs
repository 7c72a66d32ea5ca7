//! Many accounts with a hundred prompts each.

use tokio_postgres::Client;

use crate::Result;
use crate::account::{Account, Marks, client};

const FILL: &str = "
    SET session_replication_role = replica;
    INSERT INTO prompt (account_id, kind, title, body, created_at, updated_at)
    SELECT a.id, 'text', 'Study ' || n, 'Still life, soft light', now(), now()
    FROM account a, generate_series(1, 100) n WHERE a.name LIKE 'crowd-%' ORDER BY a.id, n;
    INSERT INTO vault_prompt (account_id, vault_id, prompt_id, kind)
    SELECT p.account_id, v.id, p.id, p.kind FROM account a
    JOIN vault v ON v.account_id = a.id AND v.system JOIN prompt p ON p.account_id = a.id
    WHERE a.name LIKE 'crowd-%' ORDER BY a.id, p.id;
    UPDATE vault v SET prompt_count = 100 FROM account a
    WHERE a.id = v.account_id AND a.name LIKE 'crowd-%';
    RESET session_replication_role";

const MARKS: &str = "
    SELECT a.name, v.id, p.first, m.first FROM account a
    JOIN vault v ON v.account_id = a.id AND v.system
    CROSS JOIN LATERAL (SELECT min(id) AS first FROM prompt WHERE account_id = a.id) p
    CROSS JOIN LATERAL (SELECT min(id) AS first FROM vault_prompt WHERE account_id = a.id) m
    WHERE a.name LIKE 'crowd-%'";

/// A key, and the name of its account.
pub(crate) fn seed_key(number: usize) -> String {
    format!("promptarium_live_crowd{number}_s3cret=crowd-{number}")
}

/// The accounts of [`seed_key`] with their prompts, all of them in the General vault.
pub(crate) async fn fill(sql: &Client, base: &str) -> Result<Vec<Account>> {
    sql.batch_execute(FILL).await?;
    sql.batch_execute("VACUUM (ANALYZE)").await?;
    let (client, mut accounts) = (client()?, Vec::new());
    for row in sql.query(MARKS, &[]).await? {
        let (name, first): (&str, i64) = (row.try_get(0)?, row.try_get(2)?);
        let (vault, member) = (row.try_get(1)?, row.try_get(3)?);
        let (prompt, prompts) = (first + 50, first..first + 100);
        let marks = Marks { vault, second: vault, prompt, member, prompts, ..Marks::default() };
        let key = format!("promptarium_live_{}_s3cret", name.replace('-', ""));
        accounts.push(Account { client: client.clone(), base: base.to_owned(), key, marks });
    }
    Ok(accounts)
}
