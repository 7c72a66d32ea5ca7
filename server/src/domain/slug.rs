//! Slugs: the URL-safe names of vaults (rule `VA-04`, and S-16 of the silent
//! points).
//!
//! The rule lives here and is pure; which slugs are taken is for each store to
//! know. A vault's slug is the first free one of the [`candidates`] for the
//! [`base`] of its name: `night-sky`, `night-sky-2`, `night-sky-3`…

/// The slug of a name that leaves nothing, such as one of punctuation only.
const NAMELESS: &str = "vault";

/// The slug a vault of this name gets when nothing stands in its way:
/// transliterated to ASCII, lower case, words joined by single hyphens, never
/// empty.
pub fn base(name: &str) -> String {
    let slug = ::slug::slugify(name);
    if slug.is_empty() { NAMELESS.to_owned() } else { slug }
}

/// The `number`th choice for a base, from 1: the base itself, then the base
/// with the number behind it.
pub fn candidate(base: &str, number: u64) -> String {
    if number <= 1 { base.to_owned() } else { format!("{base}-{number}") }
}

/// All choices for a base, best first.
pub fn candidates(base: &str) -> impl Iterator<Item = String> {
    (1..).map(move |number| candidate(base, number))
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
        let first: Vec<_> = candidates("a").take(3).collect();
        assert_eq!(first, ["a", "a-2", "a-3"]);
    }
}
