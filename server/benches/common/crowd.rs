//! Many accounts with a hundred prompts each.

use std::mem;

use tokio_postgres::Client;

use crate::Result;
use crate::account::{Account, Marks};
use crate::step::Step;

/// Prompts of each account, all of them in its General vault.
const PROMPTS: i64 = 100;

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

/// Whose account is another one each time; nothing of it is in a processor's cache.
pub(crate) const IN_ANY_ACCOUNT: &[(Step, &str, f64)] = &[
    (Step::GetRandom, "GET a random prompt", 1.8),
    (Step::FirstPage, "first page of 20", 1.8),
    (Step::PageOfVault, "first page of 20 of a vault", 1.8),
    (Step::Pin, "pin or unpin", 1.8),
    (Step::Move, "move", 1.8),
    (Step::Count, "GET the vault with its count", 1.8),
    (Step::Create, "POST a prompt", 1.8),
    (Step::UpdateRandom, "PATCH a random prompt", 1.8),
];

/// A key, and the name of its account.
pub(crate) fn seed_key(number: usize) -> String {
    format!("{}=crowd-{number}", key(&number.to_string()))
}

fn key(number: &str) -> String {
    format!("promptarium_live_crowd{number}_s3cret")
}

/// The keys of the accounts, and what the steps work on in each.
pub(crate) struct Crowd {
    members: Vec<(String, Marks)>,
    /// The member that the connection has at the moment.
    at: Option<usize>,
}

impl Crowd {
    /// Gives the accounts of [`seed_key`] their prompts.
    pub(crate) async fn fill(client: &Client) -> Result<Self> {
        client.batch_execute(FILL).await?;
        client.batch_execute("VACUUM (ANALYZE)").await?;
        let mut members = Vec::new();
        for row in client.query(MARKS, &[]).await? {
            let (name, first): (&str, i64) = (row.try_get(0)?, row.try_get(2)?);
            let (vault, member) = (row.try_get(1)?, row.try_get(3)?);
            let prompts = first..first + PROMPTS;
            let prompt = first + PROMPTS / 2;
            let marks = Marks { vault, second: vault, prompt, member, prompts, ..Marks::default() };
            members.push((key(name.trim_start_matches("crowd-")), marks));
        }
        Ok(Self { members, at: None })
    }

    /// Makes the account on a connection another one.
    pub(crate) fn enter(&mut self, account: &mut Account, member: usize) {
        // What the steps have changed is kept.
        let marks = mem::take(&mut account.marks);
        if let Some(before) = self.at.replace(member) {
            self.members[before].1 = marks;
        }
        let (key, marks) = &mut self.members[member];
        account.key.clone_from(key);
        account.marks = mem::take(marks);
    }

    pub(crate) fn enter_any(&mut self, account: &mut Account) {
        self.enter(account, fastrand::usize(..self.members.len()));
    }

    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }
}
