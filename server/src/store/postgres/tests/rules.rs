//! What Citus refuses, found in the parse tree of each statement, as PostgreSQL has it.
//!
//! A statement becomes the body of an SQL function, which the catalogue keeps as a tree such as
//! `{OPEXPR :opfuncid 467 :args ({VAR :varno 1 :varattno 1} {PARAM :paramid 1})}`.

use std::collections::{BTreeMap, BTreeSet};

use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::super::distribute::BY_ACCOUNT;
use super::super::scratch::ScratchDatabase;
use super::plans::statements;

/// A node of a tree.
#[derive(Debug, Default)]
struct Node {
    name: String,
    /// The first word of each field.
    fields: BTreeMap<String, String>,
    /// The nodes in its fields, with the names of these.
    nodes: Vec<(String, Node)>,
}

impl Node {
    /// Parses what follows the `{` of a node.
    fn parse<'a>(words: &mut impl Iterator<Item = &'a str>) -> Self {
        let mut node = Self { name: words.next().unwrap_or_default().into(), ..Self::default() };
        let mut field = String::new();
        while let Some(word) = words.next().filter(|word| *word != "}") {
            match word {
                "{" => node.nodes.push((field.clone(), Self::parse(words))),
                "(" | ")" => {}
                _ if word.starts_with(':') => field = word[1..].into(),
                _ => drop(node.fields.entry(field.clone()).or_insert_with(|| word.into())),
            }
        }
        node
    }

    fn number(&self, field: &str) -> u32 {
        self.fields.get(field).and_then(|word| word.parse().ok()).unwrap_or(0)
    }

    /// Whether it or a query in it names a table.
    fn has_table(&self) -> bool {
        self.all().iter().any(|node| node.number("relid") > 0)
    }

    fn field<'a>(&'a self, field: &'a str) -> impl Iterator<Item = &'a Self> {
        self.nodes.iter().filter(move |(name, _)| name == field).map(|(_, node)| node)
    }

    /// This node and all nodes in it.
    fn all(&self) -> Vec<&Self> {
        let below = self.nodes.iter().flat_map(|(_, node)| node.all());
        std::iter::once(self).chain(below).collect()
    }

    fn is(&self, command: u32) -> bool {
        self.name == "QUERY" && self.number("commandType") == command
    }

    fn is_condition(&self) -> bool {
        matches!(self.name.as_str(), "CASEEXPR" | "COALESCEEXPR")
    }

    /// The function that it calls, or 0.
    fn function(&self) -> u32 {
        ["funcid", "opfuncid", "aggfnoid"].map(|field| self.number(field)).into_iter().sum()
    }
}

/// Numbers of commands.
const SELECT: u32 = 1;
const UPDATE: u32 = 2;
const INSERT: u32 = 3;
const DELETE: u32 = 4;
/// The number of a CTE in a FROM.
const CTE: u32 = 6;

/// What the catalogue says of the numbers in a tree.
struct Catalogue {
    client: Client,
    /// `account_id` of each table of account data.
    accounts: BTreeMap<u32, u32>,
    /// `id` of each table that has a sequence for it.
    ids: BTreeMap<u32, u32>,
    /// Names of functions that are not immutable, and whether they are volatile.
    mutable: BTreeMap<u32, (String, bool)>,
}

impl Catalogue {
    async fn of(database: &ScratchDatabase) -> Self {
        let client = database.client().await;
        let columns = async |condition: &str| -> BTreeMap<u32, u32> {
            let sql = format!("SELECT attrelid, attnum::integer FROM pg_attribute {condition}");
            let rows = client.query(&sql, &[]).await.unwrap();
            rows.iter().map(|row| (row.get(0), row.get::<_, i32>(1).unsigned_abs())).collect()
        };
        let tables = BY_ACCOUNT.map(|name| format!("'{name}'::regclass")).join(", ");
        let accounts =
            columns(&format!("WHERE attname = 'account_id' AND attrelid IN ({tables})")).await;
        let ids = columns("WHERE attidentity <> ''").await;
        let sql = "SELECT oid, proname::text, provolatile = 'v' FROM pg_proc
            WHERE provolatile <> 'i'";
        let rows = client.query(sql, &[]).await.unwrap();
        let mutable = rows.iter().map(|row| (row.get(0), (row.get(1), row.get(2)))).collect();
        Self { client, accounts, ids, mutable }
    }

    async fn tree(&self, sql: &str) -> Node {
        let prepared = self.client.prepare(sql).await.unwrap();
        let types: Vec<_> = prepared.params().iter().map(Type::name).collect();
        let create = format!(
            "BEGIN; CREATE FUNCTION tree({}) RETURNS void LANGUAGE sql BEGIN ATOMIC {sql}; END",
            types.join(", ")
        );
        self.client.batch_execute(&create).await.unwrap();
        let body = "SELECT prosqlbody::text FROM pg_proc WHERE proname = 'tree'";
        let body: String = self.client.query_one(body, &[]).await.unwrap().get(0);
        self.client.batch_execute("ROLLBACK").await.unwrap();
        let body = body.replace('\\', "");
        let mut spaced = String::new();
        for char in body.chars() {
            match char {
                '{' | '}' | '(' | ')' => spaced.extend([' ', char, ' ']),
                _ => spaced.push(char),
            }
        }
        let mut words = spaced.split_whitespace().skip_while(|word| *word != "{").skip(1);
        Node::parse(&mut words)
    }

    async fn broken_rules(&self, sql: &str) -> Vec<String> {
        let tree = self.tree(sql).await;
        let (mut broken, mut read, mut written) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        for node in tree.all().into_iter().filter(|node| node.is_condition()) {
            let volatile = self.calls(node, true);
            broken.extend(volatile.map(|name| format!("volatile {name} in a condition")));
        }
        for query in tree.all().into_iter().filter(|node| node.name == "QUERY") {
            if query.is(UPDATE) {
                query.field("targetList").for_each(|value| self.check(value, false, &mut broken));
            }
            if query.is(UPDATE) || query.is(DELETE) {
                broken.extend(self.calls(query, true).map(|name| format!("volatile {name}")));
            }
            if query.is(INSERT) && self.takes_default_id(query) {
                broken.push("id from any node".into());
            }
            let of_cte = |table: &Node| table.number("rtekind") == CTE;
            if query.field("rowMarks").next().is_some() && query.field("rtable").any(of_cte) {
                broken.push("lock of a join with a CTE".into());
            }
            for cte in query.field("cteList") {
                self.check_cte(cte, &mut broken);
            }
            for (number, table) in (1..).zip(query.field("rtable")) {
                let Some(column) = self.accounts.get(&table.number("relid")) else { continue };
                if query.is(INSERT) && number == query.number("resultRelation") {
                    written.insert(query.selected(*column));
                } else {
                    read.insert(query.compared(number, *column));
                }
            }
        }
        for (accounts, verb) in [(read, "read"), (written, "written")] {
            if accounts.iter().any(|account| *account != Some(1)) {
                broken.push(format!("accounts {verb}: {accounts:?}"));
            }
        }
        broken
    }

    fn check_cte(&self, cte: &Node, broken: &mut Vec<String>) {
        for query in cte.field("ctequery") {
            if query.is(SELECT) && query.field("targetList").next().is_none() {
                broken.push("CTE without columns".into());
            }
            let is_from = query.field("rtable").next().is_some();
            if is_from && self.calls(query, true).any(|name| name == "nextval") {
                broken.push("id made by any node".into());
            }
        }
        let recursive = cte.fields.get("cterecursive").is_some_and(|word| word == "true");
        let account_data = |node: &&Node| self.accounts.contains_key(&node.number("relid"));
        if recursive && cte.all().iter().any(account_data) {
            broken.push("recursive CTE on account data".into());
        }
    }

    /// The names of functions in this node that are not immutable, or that are volatile.
    fn calls(&self, node: &Node, volatile: bool) -> impl Iterator<Item = &str> {
        let called: Vec<_> = node.all().iter().map(|node| node.function()).collect();
        let known = called.into_iter().filter_map(|function| self.mutable.get(&function));
        known.filter(move |(_, is)| *is || !volatile).map(|(name, _)| name.as_str())
    }

    /// Checks a new value of an UPDATE. Citus calls what is not immutable once for all rows, so it
    /// must not depend on the row or on a condition.
    fn check(&self, node: &Node, in_condition: bool, broken: &mut Vec<String>) {
        let in_condition = in_condition || node.is_condition();
        let of_row = node.all().iter().any(|node| node.name == "VAR");
        let is_time = in_condition && node.name == "SQLVALUEFUNCTION";
        if let Some((name, _)) = self.mutable.get(&node.function())
            && (in_condition || of_row)
        {
            broken.push(format!("{name} of a row or in a condition"));
        } else if is_time {
            broken.push("time in a condition".into());
        }
        node.nodes.iter().for_each(|(_, node)| self.check(node, in_condition, broken));
    }

    /// Whether an INSERT leaves `id` to the default while it reads no table, but results of other
    /// parts of the statement: Citus then evaluates the default on any node.
    fn takes_default_id(&self, insert: &Node) -> bool {
        let tables: Vec<_> = insert.field("rtable").collect();
        let target = tables[insert.number("resultRelation") as usize - 1].number("relid");
        let Some(id) = self.ids.get(&target) else { return false };
        let is_given = insert.field("targetList").any(|value| value.number("resno") == *id);
        let reads = tables.iter().any(|table| table.field("subquery").any(Node::has_table));
        !is_given && !reads
    }
}

impl Node {
    /// The parameter that a column of a table of this query is compared with, in the query itself.
    fn compared(&self, table: u32, column: u32) -> Option<u32> {
        let arguments: Vec<_> = self.field("args").collect();
        if let ("OPEXPR", [var, param]) = (self.name.as_str(), &arguments[..])
            && (var.name == "VAR" && param.name == "PARAM")
            && (var.number("varno"), var.number("varattno")) == (table, column)
        {
            return Some(param.number("paramid"));
        }
        let below = self.nodes.iter().filter(|(_, node)| node.name != "QUERY");
        below.into_iter().find_map(|(_, node)| node.compared(table, column))
    }

    /// The parameter that is a column of the result of this query, or of the subquery that it
    /// selects from.
    fn selected(&self, column: u32) -> Option<u32> {
        let value = self.field("targetList").find(|value| value.number("resno") == column)?;
        let (_, value) = value.nodes.iter().find(|(name, _)| name == "expr")?;
        match value.name.as_str() {
            "PARAM" => Some(value.number("paramid")),
            "VAR" => {
                let from = self.field("rtable").nth(value.number("varno") as usize - 1)?;
                from.field("subquery").next()?.selected(value.number("varattno"))
            }
            _ => None,
        }
    }
}

/// Statements that name another account than `$1`, or none, in what rule they break, and why.
const EXCEPTIONS: [(&str, &str, &str); 5] = [
    ("fork.source", "accounts read: {Some(4)}", "the forked vault may be another account's"),
    ("fork.copy", "accounts read: {Some(3)}", "the forked vault may be another account's"),
    ("jobs.ended", "accounts read: {None}", "a worker looks for old jobs of all accounts"),
    ("memberships.move_put", "accounts read: {None, Some(1)}", "`excluded` is its own row"),
    ("webhooks.all", "accounts read: {None}", "the operator asked for all webhooks"),
];

/// Each names account data with the account, and has nothing that a distributed engine refuses.
#[tokio::test]
async fn every_statement_runs_on_a_distributed_engine() {
    let database = ScratchDatabase::create().await.unwrap();
    let catalogue = Catalogue::of(&database).await;
    let mut found = BTreeSet::new();
    for statement in statements() {
        for rule in catalogue.broken_rules(statement.sql).await {
            found.insert(format!("{}: {rule}", statement.name));
        }
    }
    let expected = EXCEPTIONS.map(|(name, rule, _)| format!("{name}: {rule}"));
    assert_eq!(found, BTreeSet::from(expected), "rules are broken, or not those of an exception");
}

/// Statements that each break the rule in the comment before them.
const REFUSED: &str = "
    -- statement_timestamp of a row or in a condition
    UPDATE prompt SET updated_at = coalesce($2, statement_timestamp()) WHERE account_id = $1
    -- timestamptz_pl_interval of a row or in a condition
    UPDATE prompt SET updated_at = updated_at + interval '1 microsecond' WHERE account_id = $1
    -- time in a condition
    UPDATE job SET updated_at = CASE WHEN $2 THEN CURRENT_TIMESTAMP END WHERE account_id = $1
    -- volatile nextval in a condition
    WITH made AS (SELECT coalesce($1, nextval('vault_id_seq')) AS id) SELECT made.id FROM made
    -- volatile clock_timestamp
    DELETE FROM job WHERE account_id = $1 AND updated_at < clock_timestamp()
    -- CTE without columns
    WITH caller AS (SELECT FROM api_key WHERE id = $2 AND account_id = $1) SELECT v.id FROM caller
    LEFT JOIN vault v ON v.account_id = $1
    -- recursive CTE on account data
    WITH RECURSIVE r (number) AS (SELECT 1::bigint UNION ALL SELECT number + 1 FROM r WHERE EXISTS
    (SELECT FROM vault v WHERE v.account_id = $1)) SELECT number FROM r
    -- accounts read: {Some(1), Some(2)}
    SELECT m.id FROM vault v JOIN vault_prompt m ON m.account_id = $2 AND m.vault_id = v.id WHERE
    v.account_id = $1
    -- accounts read: {None}
    SELECT 1 FROM job WHERE vault_id = (SELECT 1 FROM api_key WHERE account_id = $1)
    -- id made by any node
    WITH made AS (SELECT nextval('prompt_id_seq') AS id FROM generate_series(1, $2)) SELECT
    made.id FROM made JOIN vault v ON v.account_id = $1 AND v.id = made.id
    -- id from any node
    WITH target AS (UPDATE vault v SET prompt_count = 1 WHERE v.account_id = $1 RETURNING 1)
    INSERT INTO prompt (account_id, kind, title, body, created_at, updated_at) SELECT $1, $2, $3,
    $4, $5, $5 FROM target
    -- lock of a join with a CTE
    WITH present AS (SELECT m.prompt_id FROM vault_prompt m WHERE m.account_id = $1) SELECT p.id
    FROM present JOIN prompt p ON p.account_id = $1 AND p.id = present.prompt_id FOR KEY SHARE OF
    p
    -- accounts written: {Some(2)}
    INSERT INTO vault (id, name, account_id, slug, visibility, created_at, updated_at) SELECT 1,
    $1, $2, 's', 'private', now(), now()
    -- accounts written: {None}
    INSERT INTO vault (id, name, account_id, slug, visibility, created_at, updated_at) SELECT 1,
    $1, id, 's', 'private', now(), now() FROM account";

#[tokio::test]
async fn a_statement_that_a_distributed_engine_refused_would_be_found() {
    let database = ScratchDatabase::create().await.unwrap();
    let catalogue = Catalogue::of(&database).await;
    for case in REFUSED.split("-- ").skip(1) {
        let (rule, sql) = case.split_once('\n').unwrap();
        assert_eq!(catalogue.broken_rules(sql).await, [rule], "{sql}");
    }
}
