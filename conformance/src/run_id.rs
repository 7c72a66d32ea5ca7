//! The mark of a run in the names of all it makes, by which `sweep` knows what
//! runs have left behind from what is somebody's.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use rand::RngExt as _;
use serde_json::Value;

const START: &str = "ptc-";
/// Small letters and digits without those that look alike; five bits each.
const SIGNS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
/// Signs for the time, for chance and for the sum of both.
const TIME: u32 = 6;
const CHANCE: u32 = 5;
const SUM: u32 = 3;
const SIGNS_IN_ALL: usize = (TIME + CHANCE + SUM) as usize;
/// 2020-01-01T00:00:00Z; six signs reach 34 years from there.
const EPOCH: i64 = 1_577_836_800;

/// A run's mark, such as `ptc-f2x9kdw7mqh3ae`: when it began, something random,
/// and a sum over both, so that no other text is taken for one. Marks are in the order
/// in which their runs began.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RunId(String);

impl Ord for RunId {
    fn cmp(&self, other: &Self) -> Ordering {
        // Among the signs digits stand last, in text they come first.
        self.begun().cmp(&other.begun()).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for RunId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl RunId {
    /// The mark of a run that begins at this moment.
    pub fn new(begun: Timestamp) -> Self {
        let seconds = (begun.as_second() - EPOCH).rem_euclid(1 << (5 * TIME));
        let chance = rand::rng().random_range(0..1_u64 << (5 * CHANCE));
        let start = signs(seconds.unsigned_abs(), TIME) + &signs(chance, CHANCE);
        Self(format!("{START}{start}{}", sum(&start)))
    }

    /// When its run began.
    pub fn begun(&self) -> Timestamp {
        let digits = self.0.bytes().skip(START.len()).take(TIME as usize);
        let place = |sign| SIGNS.iter().position(|one| *one == sign).unwrap_or_default();
        let seconds = digits
            .fold(0_i64, |sum, sign| sum * 32 + i64::try_from(place(sign)).unwrap_or_default());
        Timestamp::from_second(EPOCH + seconds).unwrap_or(Timestamp::MAX)
    }

    /// The mark of the run that gave a thing this name: the text has what
    /// [`crate::Case::name`] ends with, the mark, the number of the scenario and
    /// that of the name, and then ends or is padded with other signs. Behind a
    /// space or a point it would be a quotation.
    pub fn of_name(name: &str) -> Option<Self> {
        let at = name.rfind(START)?;
        let parted = name[..at].chars().next_back().is_none_or(|last| matches!(last, ' ' | '-'));
        let (mark, numbers) = name[at..].split_at_checked(START.len() + SIGNS_IN_ALL)?;
        let (scenario, count) = numbers.strip_prefix('-')?.split_once([' ', '-'])?;
        let padding = count.trim_start_matches(|one: char| one.is_ascii_digit());
        let quoted = |next: char| next.is_whitespace() || next.is_ascii_punctuation();
        let number = !scenario.is_empty() && scenario.bytes().all(|one| one.is_ascii_digit());
        let ours = parted && number && padding.len() < count.len() && !padding.starts_with(quoted);
        ours.then(|| mark.parse().ok()).flatten()
    }

    /// The run id in one of the texts of a prompt or vault.
    pub(crate) fn of_resource(resource: &Value) -> Option<Self> {
        let texts = ["title", "prompt", "name", "description"];
        texts.iter().filter_map(|text| resource[*text].as_str()).find_map(Self::of_name)
    }

    /// As it stands in names.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for RunId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let well_formed = text.strip_prefix(START).filter(|rest| {
            rest.len() == SIGNS_IN_ALL && rest.bytes().all(|sign| SIGNS.contains(&sign))
        });
        let (start, given) =
            well_formed.map(|rest| rest.split_at(SIGNS_IN_ALL - SUM as usize)).unwrap_or_default();
        if start.is_empty() || sum(start) != given {
            return Err("expected the mark of a run, such as a report names as its run_id".into());
        }
        Ok(Self(text.to_owned()))
    }
}

fn signs(number: u64, count: u32) -> String {
    let sign = |place: u32| {
        let digit = (number >> (5 * place)) & 31;
        char::from(SIGNS[usize::try_from(digit).unwrap_or_default()])
    };
    (0..count).rev().map(sign).collect()
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

    fn mark() -> RunId {
        RunId::new("2026-11-22T03:04:05Z".parse().unwrap())
    }

    #[test]
    fn a_mark_tells_when_its_run_began() {
        assert_eq!(mark().begun().to_string(), "2026-11-22T03:04:05Z");
        assert_eq!(
            RunId::new(Timestamp::from_second(1_577_836_800).unwrap()).begun().as_second(),
            1_577_836_800
        );
        assert_ne!(mark(), mark(), "two runs of one second differ");
    }

    #[test]
    fn marks_are_in_the_order_of_their_runs() {
        let at = |second| RunId::new(Timestamp::from_second(second).unwrap());
        let marks: Vec<_> = (0..70).map(|second| at(1_790_000_000 + second * 13)).collect();
        assert!(marks.is_sorted());
    }

    #[test]
    fn it_is_known_at_the_end_of_a_name() {
        let mark = mark();
        for name in [
            format!("vault {mark}-12 0"),
            format!("A harbour at dusk {mark}-814 17"),
            format!("job-{mark}-3-4"),
            format!("{mark}-3 4"),
            format!("long {mark}-3 4xxxx"),
            format!("long {mark}-3 4漢漢"),
        ] {
            assert_eq!(RunId::of_name(&name), Some(mark.clone()), "{name}");
        }
    }

    #[test]
    fn nothing_else_is_taken_for_a_mark() {
        let mark = mark().to_string();
        let last = if mark.ends_with('a') { 'b' } else { 'a' };
        let other = format!("{}{last}", &mark[..mark.len() - 1]);
        for name in [
            String::new(),
            "ptc-".into(),
            "vault ptc-a-1 0".into(),
            mark.clone(),
            format!("vault {mark}"),
            format!("vault {mark}-12"),
            format!("vault {mark}-12 0 of mine"),
            format!("what is {mark}-12 0?"),
            format!("vault x{mark}-12 0"),
            format!("vault {other}-12 0"),
            format!("vault {}-12 0", mark.to_uppercase()),
            format!("ptc-{}", "漢".repeat(9)),
        ] {
            assert_eq!(RunId::of_name(&name), None, "{name}");
        }
        assert!(other.parse::<RunId>().is_err() && "".parse::<RunId>().is_err());
    }

    #[test]
    fn it_leaves_room_in_a_name_of_50_characters() {
        let longest = format!("{} {}-9999 999", "x".repeat(10), mark());
        assert!(longest.len() <= 50, "{}", longest.len());
    }
}
