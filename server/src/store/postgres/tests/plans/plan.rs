//! A plan from `EXPLAIN (FORMAT JSON)`, and what the tests look for in it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::store::postgres::distribute::BY_ACCOUNT;

/// Tables of which one account may have so many rows that the range must be smaller still.
const MANY_PER_ACCOUNT: [&str; 3] = ["prompt", "vault_prompt", "job"];

/// Indexes that do not start with the account, with the reason why they may be used.
const GLOBAL_INDEXES: [(&str, &str); 1] =
    [("job_ended", "a worker deletes the jobs of all accounts that ended long ago")];

/// The root node.
pub(super) struct Plan(Value);

impl Plan {
    /// From the result of `EXPLAIN (FORMAT JSON)`.
    pub(super) fn new(mut explained: Value) -> Self {
        Self(explained[0]["Plan"].take())
    }

    fn nodes(&self) -> Vec<&Value> {
        let mut nodes = vec![&self.0];
        let mut at = 0;
        while at < nodes.len() {
            nodes.extend(children(nodes[at]));
            at += 1;
        }
        nodes
    }

    /// Every scan that reads a whole table or index.
    pub(super) fn whole_scans(&self) -> Vec<String> {
        let whole = self.nodes().into_iter().filter(|node| is_whole(node));
        let scan = |node| {
            let index = text(node, "Index Name");
            let relation = text(node, "Relation Name").or(index).unwrap_or_default();
            format!("{} on {relation} by {}", kind(node), index.unwrap_or_default())
        };
        whole.map(scan).collect()
    }

    /// Every scan that reads rows or entries of an index and then compares them with a key that it
    /// could begin with. If most accounts are small, or if the index has all columns of the
    /// statement, that looks as cheap.
    pub(super) fn filtered_ids(&self, indexes: &BTreeMap<String, Vec<String>>) -> Vec<String> {
        let filtered = |node: &Value| {
            let index = text(node, "Index Name")?;
            let filter = text(node, "Filter").unwrap_or_default();
            let condition = text(node, "Index Cond").unwrap_or_default();
            let by_id = ["(id = ", ".id = ", "prompt_id = ", "vault_id = ", "name_digest = "];
            let is_given = |column: &String| condition.contains(&format!("({column} = "));
            let mut rest = indexes[index].iter().skip_while(|column| is_given(column));
            let is_filtered = by_id.iter().any(|id| filter.contains(id)) || rest.any(is_given);
            is_filtered.then(|| format!("{} by {index}: {condition} {filter}", kind(node)))
        };
        self.nodes().into_iter().filter_map(filtered).collect()
    }

    /// Every node that changes or locks rows.
    pub(super) fn acts(&self) -> Vec<&str> {
        let kinds = self.nodes().into_iter().map(kind);
        kinds.filter(|kind| matches!(*kind, "ModifyTable" | "LockRows")).collect()
    }

    /// Every sort of table rows that no LIMIT has reduced.
    pub(super) fn unlimited_sorts(&self) -> Vec<String> {
        let sorts = self.nodes().into_iter().filter(|node| kind(node).ends_with("Sort"));
        let unlimited = sorts.filter(|node| children(node).any(reads_without_limit));
        unlimited.map(|node| format!("{} by {}", kind(node), node["Sort Key"])).collect()
    }
}

fn is_whole(node: &Value) -> bool {
    match kind(node) {
        "Seq Scan" | "Sample Scan" | "Tid Range Scan" => true,
        "Index Scan" | "Index Only Scan" | "Bitmap Index Scan" => !is_small_range(node),
        _ => false,
    }
}

/// Whether the range of the index is small however large the table is.
fn is_small_range(node: &Value) -> bool {
    let Some(condition) = text(node, "Index Cond") else {
        return false;
    };
    let index = text(node, "Index Name").unwrap_or_default();
    let is_on = |table: &&str| {
        index.strip_prefix(*table).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    // A range of an index on account data is small only if it is limited to one account.
    if index.starts_with("vault_directory") || !BY_ACCOUNT.iter().any(&is_on) {
        return true;
    }
    if GLOBAL_INDEXES.iter().any(|(name, _)| *name == index) {
        return true;
    }
    let narrow = condition.contains(" AND ") || !MANY_PER_ACCOUNT.iter().any(is_on);
    condition.contains("account_id") && narrow
}

fn reads_without_limit(node: &Value) -> bool {
    match kind(node) {
        "Limit" => false,
        "Index Only Scan" | "Index Scan" | "Bitmap Heap Scan" | "Seq Scan" => !is_one_row(node),
        // Expressions evaluated per row are not sorted.
        _ => children(node).filter(|child| !is_subplan(child)).any(reads_without_limit),
    }
}

/// Whether a scan finds one row by its key.
fn is_one_row(node: &Value) -> bool {
    let keys = ["api_key_account", "api_key_pkey", "prompt_pkey", "vault_pkey"];
    text(node, "Index Name").is_some_and(|index| {
        let condition = text(node, "Index Cond").unwrap_or_default();
        let is_job = index == "job_pkey" && condition.contains("(name_digest = ");
        is_job || keys.contains(&index) && condition.contains("(id = ")
    })
}

/// Whether a node is an expression or CTE, not an input of its parent.
fn is_subplan(node: &Value) -> bool {
    matches!(text(node, "Parent Relationship"), Some("SubPlan" | "InitPlan"))
}

fn children(node: &Value) -> impl Iterator<Item = &Value> {
    node["Plans"].as_array().into_iter().flatten()
}

fn kind(node: &Value) -> &str {
    text(node, "Node Type").unwrap_or_default()
}

fn text<'a>(node: &'a Value, name: &str) -> Option<&'a str> {
    node[name].as_str()
}
