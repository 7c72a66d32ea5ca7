//! Tables whose changes can be undone. A step is a number; the numbers of a store increase.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Debug;
use std::ops::RangeBounds;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Rows by their keys, and what they were before the steps that may still be undone.
#[derive(Debug)]
pub(super) struct Table<K, V> {
    /// The kind of its records; `None` if it is derived from other tables.
    kind: Option<&'static str>,
    /// The number that a new row gets, unique in all tables of the store.
    last_number: Arc<AtomicI64>,
    step: u64,
    rows: BTreeMap<K, Row<V>>,
    /// What steps have replaced, oldest first.
    undo: VecDeque<(u64, K, Option<Row<V>>)>,
}

#[derive(Clone, Debug)]
struct Row<V> {
    number: i64,
    value: V,
}

/// A record that a step has changed: its row's number, and its new text unless it is deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) number: i64,
    pub(crate) kind: &'static str,
    pub(crate) text: Option<String>,
}

impl<K: Clone + Ord, V: Clone> Table<K, V> {
    pub(super) fn new(kind: Option<&'static str>, last_number: &Arc<AtomicI64>) -> Self {
        let (rows, undo) = (BTreeMap::new(), VecDeque::new());
        Self { kind, last_number: last_number.clone(), step: 0, rows, undo }
    }

    /// An empty table whose rows have numbers of their own beside these.
    pub(super) fn beside<L: Clone + Ord, W: Clone>(&self, kind: &'static str) -> Table<L, W> {
        Table::new(Some(kind), &self.last_number)
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.rows.get(key).map(|row| &row.value)
    }

    pub(super) fn contains(&self, key: &K) -> bool {
        self.rows.contains_key(key)
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.rows.iter().map(|(key, row)| (key, &row.value))
    }

    pub(super) fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.rows.values().map(|row| &row.value)
    }

    pub(super) fn range(
        &self,
        range: impl RangeBounds<K>,
    ) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.rows.range(range).map(|(key, row)| (key, &row.value))
    }

    pub(super) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let row = self.rows.get_mut(key)?;
        self.undo.push_back((self.step, key.clone(), Some(row.clone())));
        Some(&mut row.value)
    }

    pub(super) fn insert(&mut self, key: K, value: V) {
        if let Some(present) = self.get_mut(&key) {
            *present = value;
            return;
        }
        let number = self.last_number.fetch_add(1, Relaxed) + 1;
        self.rows.insert(key.clone(), Row { number, value });
        self.undo.push_back((self.step, key, None));
    }

    pub(super) fn remove(&mut self, key: &K) -> Option<V> {
        let row = self.rows.remove(key)?;
        self.undo.push_back((self.step, key.clone(), Some(row.clone())));
        Some(row.value)
    }

    pub(super) fn remove_where(&mut self, is_removed: impl Fn(&K, &V) -> bool) {
        let removed = self.iter().filter(|(key, value)| is_removed(key, value));
        for key in removed.map(|(key, _)| key.clone()).collect::<Vec<_>>() {
            self.remove(&key);
        }
    }
}

pub(super) trait AnyTable {
    #[cfg(test)]
    fn records(&self) -> Vec<Change>;

    /// Begins a step. Those up to `settled` will not be undone.
    fn begin(&mut self, step: u64, settled: u64);

    /// Undoes this step and all later ones.
    fn undo_from(&mut self, step: u64);

    /// Adds the records that a step has changed.
    fn changes(&self, step: u64, all: &mut Vec<Change>);

    /// Adds a record, if it is of the kind of this table.
    #[cfg(feature = "folder")]
    fn load(&mut self, number: i64, kind: &str, text: &str) -> Option<serde_json::Result<()>>;
}

impl<K, V> AnyTable for Table<K, V>
where
    K: Clone + Ord + Debug + Serialize + DeserializeOwned,
    V: Clone + Serialize + DeserializeOwned,
{
    #[cfg(test)]
    fn records(&self) -> Vec<Change> {
        let Some(kind) = self.kind else { return Vec::new() };
        let record = |(key, Row { number, value }): (&K, &Row<V>)| {
            let text = serde_json::to_string(&(key, value)).ok();
            Change { number: *number, kind, text }
        };
        self.rows.iter().map(record).collect()
    }

    fn begin(&mut self, step: u64, settled: u64) {
        self.step = step;
        while self.undo.front().is_some_and(|(of, ..)| *of <= settled) {
            self.undo.pop_front();
        }
    }

    fn undo_from(&mut self, step: u64) {
        let first = self.undo.partition_point(|(of, ..)| *of < step);
        for (_, key, before) in self.undo.drain(first..).rev() {
            match before {
                Some(row) => self.rows.insert(key, row),
                None => self.rows.remove(&key),
            };
        }
    }

    fn changes(&self, step: u64, all: &mut Vec<Change>) {
        let Some(kind) = self.kind else { return };
        let mut before = BTreeMap::new();
        for (_, key, row) in self.undo.iter().rev().take_while(|(of, ..)| *of == step) {
            // The last one seen was there first.
            before.insert(key, row.as_ref().map(|row| row.number));
        }
        for (key, before) in before {
            let row = self.rows.get(key);
            if let Some(number) = before.filter(|_| row.map(|row| row.number) != before) {
                all.push(Change { number, kind, text: None });
            }
            if let Some(Row { number, value }) = row {
                // Maps have keys of text, and nothing else can fail.
                let text = serde_json::to_string(&(key, value)).unwrap_or_default();
                all.push(Change { number: *number, kind, text: Some(text) });
            }
        }
    }

    #[cfg(feature = "folder")]
    fn load(&mut self, number: i64, kind: &str, text: &str) -> Option<serde_json::Result<()>> {
        self.kind.filter(|own| *own == kind)?;
        Some(serde_json::from_str(text).map(|(key, value)| {
            self.rows.insert(key, Row { number, value });
            self.last_number.fetch_max(number, Relaxed);
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table<i64, String> {
        let mut table = Table::new(Some("word"), &Arc::default());
        table.begin(1, 0);
        table.insert(1, "one".into());
        table.insert(2, "two".into());
        table
    }

    fn rows(table: &Table<i64, String>) -> Vec<(i64, &str)> {
        table.iter().map(|(key, value)| (*key, &**value)).collect()
    }

    fn changes(table: &Table<i64, String>, step: u64) -> Vec<(i64, Option<String>)> {
        let mut changes = Vec::new();
        table.changes(step, &mut changes);
        changes.into_iter().map(|change| (change.number, change.text)).collect()
    }

    #[test]
    fn steps_are_undone_newest_first() {
        let mut table = table();
        table.begin(2, 0);
        table.get_mut(&1).unwrap().push('!');
        table.insert(1, "other".into());
        table.remove(&2);
        table.insert(3, "three".into());
        table.begin(3, 0);
        table.remove_where(|key, _| *key == 3);
        table.insert(2, "again".into());
        assert_eq!(rows(&table), [(1, "other"), (2, "again")]);
        table.undo_from(3);
        assert_eq!(rows(&table), [(1, "other"), (3, "three")]);
        table.undo_from(2);
        assert_eq!(rows(&table), [(1, "one"), (2, "two")]);
        table.undo_from(1);
        assert_eq!(rows(&table), []);
    }

    #[test]
    fn what_is_settled_stays() {
        let mut table = table();
        table.begin(2, 1);
        table.remove(&1);
        table.undo_from(0);
        assert_eq!(rows(&table), [(1, "one"), (2, "two")]);
    }

    #[test]
    fn each_row_that_a_step_leaves_changed_is_one_change() {
        let mut table = table();
        assert_eq!(changes(&table, 1).len(), 2);
        table.begin(2, 0);
        table.get_mut(&1).unwrap().push('!');
        table.get_mut(&1).unwrap().push('?');
        table.remove(&2);
        table.insert(3, "gone".into());
        table.remove(&3);
        assert_eq!(changes(&table, 2), [(1, Some(r#"[1,"one!?"]"#.into())), (2, None)]);
        table.begin(3, 0);
        table.remove(&1);
        table.insert(1, "new".into());
        assert_eq!(changes(&table, 3), [(1, None), (4, Some(r#"[1,"new"]"#.into()))]);
    }

    #[test]
    fn records_are_loaded_and_new_rows_have_later_numbers() {
        let mut table: Table<i64, String> = Table::new(Some("word"), &Arc::default());
        table.load(7, "word", r#"[1,"one"]"#).unwrap().unwrap();
        table.begin(1, 0);
        table.insert(2, "two".into());
        assert_eq!(changes(&table, 1), [(8, Some(r#"[2,"two"]"#.into()))]);
        assert!(table.load(9, "word", "[1").unwrap().is_err());
    }
}
