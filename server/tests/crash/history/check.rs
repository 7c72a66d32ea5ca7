//! What the writers have done, and what a walk over a list must therefore have.
//!
//! A prompt that was in the list when a walk began, and that nothing changed until the walk ended, is
//! in one page of the walk; one that was not in the list is in none. The ids of a walk descend (S-01).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

pub(crate) type Id = i64;

/// What filters look at.
#[derive(Clone, Debug)]
pub(crate) struct Prompt {
    pub(crate) kind: &'static str,
    pub(crate) vaults: BTreeSet<Id>,
}

/// The prompts of a run.
#[derive(Default)]
pub(crate) struct Prompts {
    /// Each with the time since which it is so; `None` while a request is on its way that changes
    /// what filters look at, or deletes it.
    pub(crate) alive: BTreeMap<Id, (Option<Duration>, Prompt)>,
    /// With the time at which the deletion was acknowledged.
    pub(crate) deleted: BTreeMap<Id, Duration>,
    /// Ids in pages whose creation was not acknowledged then. It must be later.
    pub(crate) unknown: BTreeSet<Id>,
}

/// The queries `type` and `vaultId`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Filter {
    pub(crate) kind: Option<&'static str>,
    pub(crate) vault: Option<Id>,
}

impl Filter {
    fn has(&self, prompt: &Prompt) -> bool {
        self.kind.is_none_or(|kind| kind == prompt.kind)
            && self.vault.is_none_or(|vault| prompt.vaults.contains(&vault))
    }
}

impl Prompts {
    /// What is wrong with a walk that began at this time and has just ended.
    pub(crate) fn faults(
        &mut self,
        began: Duration,
        filter: Filter,
        limit: usize,
        pages: &[Vec<Id>],
    ) -> Vec<String> {
        let mut faults = Vec::new();
        let ids: Vec<_> = pages.iter().flatten().copied().collect();
        for two in ids.windows(2).filter(|two| two[0] <= two[1]) {
            let is_again = ids.iter().filter(|id| **id == two[1]).count() > 1;
            faults.push(format!("{} {}", if is_again { "repeated" } else { "disordered" }, two[1]));
        }
        // A page with a cursor is full (S-71).
        for (number, page) in pages.iter().enumerate() {
            let is_last = number + 1 == pages.len();
            if page.len() > limit || !is_last && page.len() < limit {
                faults.push(format!("size {}", page.len()));
            }
        }
        let is_settled = |since: &Option<Duration>| since.is_some_and(|since| since <= began);
        for id in &ids {
            match (self.alive.get(id), self.deleted.get(id)) {
                (Some((since, prompt)), _) if is_settled(since) && !filter.has(prompt) => {
                    faults.push(format!("unexpected {id}"));
                }
                (_, Some(at)) if *at <= began => faults.push(format!("resurrected {id}")),
                (None, None) => drop(self.unknown.insert(*id)),
                _ => {}
            }
        }
        let ids: BTreeSet<_> = ids.into_iter().collect();
        let missing = self.alive.iter().filter(|(id, (since, prompt))| {
            is_settled(since) && filter.has(prompt) && !ids.contains(id)
        });
        faults.extend(missing.map(|(id, _)| format!("skipped {id}")));
        faults
    }
}

/// Of texts 1 to 5 in vault 7, of which 3 was deleted, 2 is being changed and 1 was changed after the
/// walk began.
#[test]
fn a_wrong_walk_is_found_and_a_right_one_has_no_faults() {
    let time = Duration::from_secs;
    let text = Prompt { kind: "text", vaults: [7].into() };
    let texts = Filter { kind: Some("text"), vault: Some(7) };
    let (images, elsewhere) =
        (Filter { kind: Some("image"), vault: None }, Filter { kind: None, vault: Some(8) });
    for (filter, pages, expected) in [
        (texts, &[&[5, 4][..], &[2, 1]][..], ""),
        (texts, &[&[5, 4], &[2]], ""),
        (texts, &[&[5, 4], &[1]], ""),
        (texts, &[&[5, 4], &[]], ""),
        (Filter::default(), &[&[5, 4]], ""),
        (texts, &[&[4, 2], &[1]], "skipped 5"),
        (texts, &[&[]], "skipped 4, skipped 5"),
        (texts, &[&[5, 4], &[4, 2], &[1]], "repeated 4"),
        (texts, &[&[5, 4], &[1, 2]], "disordered 2"),
        (texts, &[&[5, 4], &[3, 2]], "resurrected 3"),
        (texts, &[&[5], &[4, 2]], "size 1"),
        (texts, &[&[5, 4, 2]], "size 3"),
        (images, &[&[5, 2]], "unexpected 5"),
        (elsewhere, &[&[4, 1]], "unexpected 4"),
    ] {
        let since = [(1, Some(time(11))), (2, None), (4, Some(time(9))), (5, Some(time(10)))];
        let alive = since.map(|(id, since)| (id, (since, text.clone()))).into();
        let mut prompts = Prompts { alive, deleted: [(3, time(9))].into(), ..Prompts::default() };
        let pages: Vec<_> = pages.iter().map(|page| page.to_vec()).collect();
        let faults = prompts.faults(time(10), filter, 2, &pages);
        assert_eq!(faults.join(", "), expected, "{pages:?}");
        assert!(prompts.unknown.is_empty());
    }
    let mut prompts = Prompts::default();
    assert!(
        prompts.faults(time(1), texts, 2, &[vec![9]]).is_empty() && prompts.unknown == [9].into()
    );
}
