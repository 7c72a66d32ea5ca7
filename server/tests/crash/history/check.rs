//! What the writers have done, and what a walk over a list must therefore have.
//!
//! A prompt that was in the list when a walk began, and that nothing changed until the walk ended, is
//! in one page of the walk; one that was not in the list is in none. The ids of a walk descend (S-01).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::state::Id;

/// What filters look at.
#[derive(Clone, Debug)]
pub(crate) struct Prompt {
    pub(crate) kind: &'static str,
    pub(crate) vaults: BTreeSet<Id>,
}

/// The prompts of a run.
#[derive(Default)]
pub(crate) struct Prompts {
    /// What each is, `None` if it was deleted, and the time since which it is so; `None` while a
    /// request is on its way that changes what filters look at, or deletes it.
    pub(crate) known: BTreeMap<Id, (Option<Duration>, Option<Prompt>)>,
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
    fn has(&self, prompt: Option<&Prompt>) -> bool {
        prompt.is_some_and(|prompt| {
            self.kind.is_none_or(|kind| kind == prompt.kind)
                && self.vault.is_none_or(|vault| prompt.vaults.contains(&vault))
        })
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
        let (last, full) = pages.split_last().expect("a page");
        let wrong = full.iter().filter(|page| page.len() != limit);
        let wrong = wrong.chain([last].into_iter().filter(|page| page.len() > limit));
        faults.extend(wrong.map(|page| format!("size {}", page.len())));
        let ids: BTreeSet<_> = ids.into_iter().collect();
        for (id, (since, prompt)) in &self.known {
            let is_settled = since.is_some_and(|since| since <= began);
            match (ids.contains(id), filter.has(prompt.as_ref()), prompt) {
                _ if !is_settled => {}
                (true, false, None) => faults.push(format!("resurrected {id}")),
                (true, false, Some(_)) => faults.push(format!("unexpected {id}")),
                (false, true, _) => faults.push(format!("skipped {id}")),
                (true, true, _) | (false, false, _) => {}
            }
        }
        self.unknown.extend(ids.iter().filter(|id| !self.known.contains_key(id)));
        faults
    }
}

/// Of texts 1 to 5 in vault 7, of which 3 was deleted, 2 is being changed and 1 was changed after the
/// walk began.
#[test]
fn a_wrong_walk_is_found_and_a_right_one_has_no_faults() {
    let time = Duration::from_secs;
    let texts = Filter { kind: Some("text"), vault: Some(7) };
    let (images, elsewhere) =
        (Filter { kind: Some("image"), vault: None }, Filter { kind: None, vault: Some(8) });
    for (filter, pages, expected) in [
        (texts, &[&[5, 4][..], &[2, 1]][..], ""),
        (texts, &[&[5, 4], &[2]], ""),
        (texts, &[&[5, 4], &[1]], ""),
        (texts, &[&[5, 4], &[]], ""),
        (Filter::default(), &[&[5, 4]], ""),
        (texts, &[&[9, 5], &[4]], ""),
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
        let text = || Some(Prompt { kind: "text", vaults: [7].into() });
        let known = [(1, Some(11)), (2, None), (3, Some(9)), (4, Some(9)), (5, Some(10))];
        let known = known.map(|(id, since)| (id, (since.map(time), text().filter(|_| id != 3))));
        let mut prompts = Prompts { known: known.into(), ..Prompts::default() };
        let pages: Vec<_> = pages.iter().map(|page| page.to_vec()).collect();
        let faults = prompts.faults(time(10), filter, 2, &pages);
        assert_eq!(faults.join(", "), expected, "{pages:?}");
        assert_eq!(prompts.unknown.contains(&9), pages[0].contains(&9), "{pages:?}");
    }
}
