//! The ids in results. Those of two stores differ, so each is replaced by its number in the order in
//! which ids of its type first appeared.

use std::collections::BTreeMap;

use super::ops::{ACCOUNTS, Values};

/// An id that no store assigns.
const UNKNOWN: i64 = i64::MAX;

/// The ids that results have shown, by their types: `Prompt` has those of `PromptId`.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    seen: BTreeMap<String, Vec<i64>>,
    /// The ids that each account has, as far as the test knows.
    owned: [BTreeMap<String, Vec<i64>>; ACCOUNTS],
}

impl Ids {
    /// The text of a result with numbers in place of ids. They are of this account.
    pub(super) fn normalize(&mut self, result: &str, account: Option<usize>) -> String {
        let mut parts = result.split("Id(");
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let kind = text.rsplit(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
            let part = part.trim_start();
            let (id, rest) = part.split_at(part.find(|c: char| !c.is_ascii_digit()).unwrap());
            let number = self.number(kind, id.parse().unwrap(), account);
            text += &format!("Id({number}{rest}");
        }
        text
    }

    fn number(&mut self, kind: &str, id: i64, account: Option<usize>) -> i64 {
        if id == UNKNOWN {
            return id;
        }
        let add = |ids: &mut BTreeMap<String, Vec<i64>>| {
            let ids = ids.entry(kind.to_owned()).or_default();
            let known = ids.iter().position(|known| *known == id);
            known.unwrap_or_else(|| {
                ids.push(id);
                ids.len() - 1
            })
        };
        if let Some(account) = account {
            add(&mut self.owned[account]);
        }
        i64::try_from(add(&mut self.seen)).unwrap()
    }

    pub(super) fn clear_owned(&mut self) {
        self.owned = Default::default();
    }

    pub(super) fn remove_owned(&mut self, account: usize, kind: &str, id: impl Into<i64>) {
        let (id, owned) = (id.into(), self.owned[account].get_mut(kind));
        owned.into_iter().for_each(|ids| ids.retain(|own| *own != id));
    }

    /// Usually one of the account's own ids, sometimes one of any account, present or
    /// deleted, or an unknown one.
    pub(super) fn pick<Id: From<i64>>(&self, kind: &str, values: &mut Values) -> Id {
        let from = match values.below(20) {
            0 => None,
            1..4 => self.seen.get(kind),
            _ => self.owned[values.account].get(kind),
        };
        from.and_then(|ids| values.choose(ids)).unwrap_or(UNKNOWN).into()
    }
}
