//! The run id in the names of all resources that a run creates, by which `sweep` recognizes those
//! that a run has left behind.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use rand::RngExt as _;
use serde_json::Value;

const START: &str = "ptc-";
/// Small letters and digits without those that look alike; five bits each.
const SIGNS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
/// Signs for the time, for chance and for the checksum of both.
const TIME: u32 = 6;
const CHANCE: u32 = 5;
const SUM: u32 = 3;
const LENGTH: usize = (TIME + CHANCE + SUM) as usize;
/// 2020-01-01T00:00:00Z; six signs reach 34 years from there.
const EPOCH: i64 = 1_577_836_800;

/// Such as `ptc-f2x9kdw7mqh3ae`: when the run began, something random, and a checksum, so that no
/// other text is taken for one. Run ids are in the order in which their runs began.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId {
    /// In seconds since [`EPOCH`].
    begun: u64,
    text: String,
}

impl RunId {
    /// The id of a run that begins at this moment.
    pub fn new(begun: Timestamp) -> Self {
        let begun = (begun.as_second() - EPOCH).rem_euclid(1 << (5 * TIME)).unsigned_abs();
        let chance = rand::rng().random_range(0..1_u64 << (5 * CHANCE));
        let start = signs(begun, TIME) + &signs(chance, CHANCE);
        Self { begun, text: format!("{START}{start}{}", sum(&start)) }
    }

    /// When the run began.
    pub fn begun(&self) -> Timestamp {
        Timestamp::from_second(EPOCH.saturating_add_unsigned(self.begun)).unwrap_or(Timestamp::MAX)
    }

    /// The id of the run that gave this name to something: the text has what
    /// [`crate::Case::name`] ends with, the run id, the number of the scenario and that of the
    /// name, and then ends or is padded with other signs. Behind a space or a point it would be a
    /// quotation.
    pub fn of_name(name: &str) -> Option<Self> {
        let at = name.rfind(START)?;
        let parted = name[..at].chars().next_back().is_none_or(|last| matches!(last, ' ' | '-'));
        let (id, numbers) = name[at..].split_at_checked(START.len() + LENGTH)?;
        let (scenario, count) = numbers.strip_prefix('-')?.split_once([' ', '-'])?;
        let padding = count.trim_start_matches(|one: char| one.is_ascii_digit());
        let quoted = |next: char| next.is_whitespace() || next.is_ascii_punctuation();
        let number = !scenario.is_empty() && scenario.bytes().all(|one| one.is_ascii_digit());
        let ours = parted && number && padding.len() < count.len() && !padding.starts_with(quoted);
        ours.then(|| id.parse().ok()).flatten()
    }

    /// The run id in one of the texts of a prompt or vault.
    pub(crate) fn of_resource(resource: &Value) -> Option<Self> {
        let texts = ["title", "prompt", "name", "description"];
        texts.iter().filter_map(|text| resource[*text].as_str()).find_map(Self::of_name)
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for RunId {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let rest = text.strip_prefix(START)?;
            let (start, given) = rest.split_at_checked(LENGTH - SUM as usize)?;
            let digit = |sign: u8| SIGNS.iter().position(|one| *one == sign);
            let digits: Option<Vec<_>> = start.bytes().map(digit).collect();
            let add = |sum, digit: &usize| sum * 32 + *digit as u64;
            let begun = digits?.iter().take(TIME as usize).fold(0, add);
            (sum(start) == given).then(|| Self { begun, text: text.to_owned() })
        };
        parse().ok_or("expected the id of a run, such as a report names as its run_id")
    }
}

fn signs(number: u64, count: u32) -> String {
    (0..count).rev().map(|place| char::from(SIGNS[(number >> (5 * place)) as usize & 31])).collect()
}

/// FNV-1a, folded to what three signs hold.
fn sum(text: &str) -> String {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, mix);
    signs(hash ^ (hash >> 32), SUM)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::RunId;

    fn id() -> RunId {
        RunId::new("2026-11-22T03:04:05Z".parse().unwrap())
    }

    #[test]
    fn a_run_id_tells_when_its_run_began() {
        let first = Timestamp::from_second(super::EPOCH).unwrap();
        // `sweep` must find what earlier versions have left behind.
        let earlier: RunId = "ptc-grn8xfbfxwh4sd".parse().unwrap();
        for (id, begun) in [(earlier, id().begun()), (RunId::new(first), first)] {
            assert_eq!(id.begun(), begun);
        }
    }

    #[test]
    fn it_is_found_at_the_end_of_a_name() {
        let id = id();
        for name in [
            format!("vault {id}-12 0"),
            format!("A harbour at dusk {id}-814 17"),
            format!("job-{id}-3-4"),
            format!("{id}-3 4"),
            format!("long {id}-3 4xxxx"),
            format!("long {id}-3 4漢漢"),
        ] {
            assert_eq!(RunId::of_name(&name), Some(id.clone()), "{name}");
        }
    }

    #[test]
    fn no_other_text_is_taken_for_one() {
        let id = id().to_string();
        let last = if id.ends_with('a') { 'b' } else { 'a' };
        let other = format!("{}{last}", &id[..id.len() - 1]);
        for name in [
            String::new(),
            "ptc-".into(),
            "vault ptc-a-1 0".into(),
            id.clone(),
            format!("vault {id}"),
            format!("vault {id}-12"),
            format!("vault {id}-12 0 of mine"),
            format!("what is {id}-12 0?"),
            format!("vault x{id}-12 0"),
            format!("vault {other}-12 0"),
            format!("vault {}-12 0", id.to_uppercase()),
            format!("ptc-{}", "漢".repeat(9)),
        ] {
            assert_eq!(RunId::of_name(&name), None, "{name}");
        }
        assert!(other.parse::<RunId>().is_err() && "".parse::<RunId>().is_err());
    }
}
