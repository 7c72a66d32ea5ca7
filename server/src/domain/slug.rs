//! Slugs: the URL-safe names of vaults (rule `VA-04`, and S-16 of the silent
//! points).
//!
//! A vault's slug is the first free [`candidate`] for the [`base`] of its
//! name: `night-sky`, `night-sky-2`, `night-sky-3`… The stores know which are taken.

/// Slug of a name without letters or digits.
const NAMELESS: &str = "vault";

/// The preferred slug of a name: transliterated to ASCII, lower case, words joined by
/// single hyphens, never empty.
pub(crate) fn base(name: &str) -> String {
    let slug = ::slug::slugify(name);
    if slug.is_empty() { NAMELESS.to_owned() } else { slug }
}

/// The `number`th candidate for a base, from 1: the base, then the base with a number.
pub(crate) fn candidate(base: &str, number: u64) -> String {
    if number <= 1 { base.to_owned() } else { format!("{base}-{number}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_is_transliterated_lower_case_and_hyphenated() {
        assert_eq!(base("Night Sky"), "night-sky");
        assert_eq!(base("  Ærøskøbing -- 100% Öl!  "), "aeroskobing-100-ol");
        assert_eq!(base("影師嗎"), "ying-shi-ma");
    }

    #[test]
    fn a_base_is_never_empty() {
        for name in ["", "---", "!?", "\u{200b}", " "] {
            assert_eq!(base(name), "vault", "{name:?}");
        }
    }

    #[test]
    fn candidates_count_from_two() {
        assert_eq!([1, 2, 3].map(|n| candidate("a", n)), ["a", "a-2", "a-3"]);
    }
}
