//! The slugs an account has given out, so that the smallest free one is found
//! without trying them in turn.
//!
//! The rule is in [`crate::domain::slug`]. Here each base has the set of its
//! numbers that are taken, kept as runs: the smallest free number is the end of
//! the run that starts at 1, however many vaults share a name.

use std::collections::{BTreeMap, HashMap};

use crate::domain::slug;

#[derive(Debug, Default)]
pub(super) struct Slugs {
    numbers: HashMap<Box<str>, Runs>,
}

impl Slugs {
    /// Gives out a slug for a vault of this name.
    pub(super) fn take(&mut self, name: &str) -> String {
        let base = slug::base(name);
        let number = self.numbers.get(base.as_str()).map_or(1, Runs::smallest_free);
        let slug = slug::candidate(&base, number);
        for (base, number) in meanings(&slug) {
            self.numbers.entry(base.into()).or_default().insert(number);
        }
        slug
    }

    /// Takes a slug back.
    pub(super) fn release(&mut self, slug: &str) {
        for (base, number) in meanings(slug) {
            if let Some(runs) = self.numbers.get_mut(base) {
                runs.remove(number);
                if runs.is_empty() {
                    self.numbers.remove(base);
                }
            }
        }
    }

    #[cfg(test)]
    pub(super) fn taken(&self) -> std::collections::BTreeSet<&str> {
        let taken = self.numbers.iter().filter(|(_, runs)| runs.contains(1));
        taken.map(|(slug, _)| &**slug).collect()
    }
}

/// A slug is the first choice for itself and may be a later one for a shorter
/// base.
fn meanings(slug: &str) -> impl Iterator<Item = (&str, u64)> {
    std::iter::once((slug, 1)).chain(slug::numbered(slug))
}

/// A set of numbers from 1 as its unbroken runs, each with its first and last
/// number; two runs never touch.
#[derive(Debug, Default)]
struct Runs(BTreeMap<u64, u64>);

impl Runs {
    fn smallest_free(&self) -> u64 {
        self.0.get(&1).map_or(1, |last| last + 1)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The run that holds `number`.
    fn around(&self, number: u64) -> Option<(u64, u64)> {
        let (&first, &last) = self.0.range(..=number).next_back()?;
        (number <= last).then_some((first, last))
    }

    #[cfg(test)]
    fn contains(&self, number: u64) -> bool {
        self.around(number).is_some()
    }

    fn insert(&mut self, number: u64) {
        if self.around(number).is_some() {
            return;
        }
        let first = self.around(number - 1).map_or(number, |(first, _)| first);
        let last = self.0.remove(&(number + 1)).unwrap_or(number);
        self.0.insert(first, last);
    }

    fn remove(&mut self, number: u64) {
        let Some((first, last)) = self.around(number) else {
            return;
        };
        self.0.remove(&first);
        if first < number {
            self.0.insert(first, number - 1);
        }
        if number < last {
            self.0.insert(number + 1, last);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_gap_is_filled_before_the_end_grows() {
        let mut slugs = Slugs::default();
        let given: Vec<_> = (0..3).map(|_| slugs.take("Sky")).collect();
        assert_eq!(given, ["sky", "sky-2", "sky-3"]);
        slugs.release("sky-2");
        slugs.release("sky");
        assert_eq!(slugs.take("sky"), "sky");
        assert_eq!(slugs.take("sky"), "sky-2");
        assert_eq!(slugs.take("sky"), "sky-4");
    }

    #[test]
    fn a_name_that_ends_in_a_number_stands_in_the_way() {
        let mut slugs = Slugs::default();
        assert_eq!(slugs.take("Take 2"), "take-2");
        assert_eq!(slugs.take("Take"), "take");
        assert_eq!(slugs.take("Take"), "take-3");
        assert_eq!(slugs.take("Take 2"), "take-2-2");
        slugs.release("take-2");
        assert_eq!(slugs.take("Take"), "take-2");
        assert_eq!(slugs.take("Take 2"), "take-2-3");
    }

    proptest! {
        #[test]
        fn the_slug_given_is_the_first_free_candidate(
            steps in vec((any::<bool>(), 0..8_usize), 1..60),
        ) {
            let names = ["a", "a 2", "a 3", "a 2 2", "a-1", "A", "b", "a 02"];
            let mut slugs = Slugs::default();
            let mut taken: BTreeSet<String> = BTreeSet::new();
            for (release, pick) in steps {
                if release && let Some(slug) = taken.iter().nth(pick).cloned() {
                    slugs.release(&slug);
                    taken.remove(&slug);
                } else {
                    let base = slug::base(names[pick]);
                    let first = slug::candidates(&base).find(|slug| !taken.contains(slug));
                    let given = slugs.take(names[pick]);
                    prop_assert_eq!(Some(&given), first.as_ref());
                    taken.insert(given);
                }
                prop_assert!(slugs.taken().into_iter().eq(taken.iter().map(String::as_str)));
            }
        }
    }
}
