//! What a request wants of a file: all of it, a part, or nothing because it has
//! the file already.

use std::ops::Range;

use http::HeaderMap;
use http::header::{IF_NONE_MATCH, IF_RANGE, RANGE};

/// The part of a file that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Everything.
    All,
    /// From the first place to the last one, that one included, or to the end.
    From(u64, Option<u64>),
    /// So many bytes at the end.
    Last(u64),
}

impl Wanted {
    /// Where that is in a file of so many bytes; `None` if no byte of it is there.
    pub(super) fn within(self, size: u64) -> Option<Range<u64>> {
        let range = match self {
            Self::All => return Some(0..size),
            Self::From(first, None) => first..size,
            Self::From(first, Some(last)) => first..size.min(last.saturating_add(1)),
            Self::Last(count) => size.saturating_sub(count)..size,
        };
        (!range.is_empty()).then_some(range)
    }
}

/// What `Range` asks for. Several ranges, other units and what cannot be read
/// count as not asked, as does a range of something that is not `tag`.
pub(super) fn range_of(headers: &HeaderMap, tag: &str) -> Wanted {
    let mut ranges = headers.get_all(RANGE).iter();
    let (Some(range), None) = (ranges.next(), ranges.next()) else {
        return Wanted::All;
    };
    if headers.get_all(IF_RANGE).iter().any(|condition| condition != tag) {
        return Wanted::All;
    }
    range.to_str().ok().and_then(read_range).unwrap_or(Wanted::All)
}

fn read_range(text: &str) -> Option<Wanted> {
    let (unit, range) = text.split_once('=')?;
    let (first, last) = range.trim().split_once('-')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    match (first, last) {
        ("", count) => place(count).map(Wanted::Last),
        (first, "") => place(first).map(|first| Wanted::From(first, None)),
        (first, last) => {
            let (first, last) = (place(first)?, place(last)?);
            (first <= last).then_some(Wanted::From(first, Some(last)))
        }
    }
}

/// A place too far away to be counted is behind the end of every file.
fn place(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u64::MAX))
}

/// Whether `If-None-Match` says that the client has the file of this tag.
pub(in crate::api) fn has_it(headers: &HeaderMap, tag: &str) -> bool {
    let values = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    // Our tags hold no comma.
    let mut tags = values.flat_map(|value| value.split(',')).map(str::trim);
    tags.any(|given| given == "*" || given.strip_prefix("W/").unwrap_or(given) == tag)
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    fn headers(all: &[(HeaderName, &'static str)]) -> HeaderMap {
        all.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn one_range_of_bytes_is_read() {
        for (text, wanted, within) in [
            ("bytes=0-0", Wanted::From(0, Some(0)), Some(0..1)),
            ("bytes=2-", Wanted::From(2, None), Some(2..10)),
            ("Bytes=2-4", Wanted::From(2, Some(4)), Some(2..5)),
            ("bytes=2-99", Wanted::From(2, Some(99)), Some(2..10)),
            ("bytes=-3", Wanted::Last(3), Some(7..10)),
            ("bytes=-99", Wanted::Last(99), Some(0..10)),
            ("bytes=-0", Wanted::Last(0), None),
            ("bytes=10-", Wanted::From(10, None), None),
            ("bytes=99999999999999999999-", Wanted::From(u64::MAX, None), None),
            ("bytes=0-99999999999999999999", Wanted::From(0, Some(u64::MAX)), Some(0..10)),
        ] {
            assert_eq!(range_of(&headers(&[(RANGE, text)]), "\"t\""), wanted, "{text}");
            assert_eq!(wanted.within(10), within, "{text}");
        }
    }

    #[test]
    fn whatever_else_stands_there_asks_for_all() {
        for text in [
            "",
            "bytes",
            "bytes=",
            "bytes=-",
            "bytes=a-b",
            "bytes=3-2",
            "bytes=+1-2",
            "lines=0-1",
            "bytes=0-1,3-4",
            "bytes=1 - 2",
        ] {
            assert_eq!(range_of(&headers(&[(RANGE, text)]), "\"t\""), Wanted::All, "{text}");
        }
        assert_eq!(range_of(&HeaderMap::new(), "\"t\""), Wanted::All);
        assert_eq!(Wanted::All.within(0), Some(0..0));
    }

    #[test]
    fn a_range_counts_for_the_file_that_was_meant() {
        for (condition, meant) in [
            ("\"t\"", true),
            ("W/\"t\"", false),
            ("\"u\"", false),
            ("Mon, 02 Jan 2006 15:04:05 GMT", false),
        ] {
            let headers = headers(&[(RANGE, "bytes=0-0"), (IF_RANGE, condition)]);
            assert_eq!(range_of(&headers, "\"t\"") != Wanted::All, meant, "{condition}");
        }
    }

    #[test]
    fn who_has_the_file_says_so_by_its_tag() {
        for (text, has) in [
            ("\"t\"", true),
            ("W/\"t\"", true),
            ("*", true),
            ("\"a\", \"t\"", true),
            ("\"a\"", false),
            ("t", false),
            ("", false),
        ] {
            assert_eq!(has_it(&headers(&[(IF_NONE_MATCH, text)]), "\"t\""), has, "{text}");
        }
    }
}
