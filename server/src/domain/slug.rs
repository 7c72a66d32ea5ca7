//! Slugs: the URL-safe names of vaults (rule `VA-04`, and S-16 of the silent
//! points).
//!
//! A vault's slug is the first free one of the [`candidates`] for the [`base`] of its
//! name: `night-sky`, `night-sky-2`, `night-sky-3`… The stores know which are taken.

/// Slug of a name without letters or digits.
const NAMELESS: &str = "vault";

/// The preferred slug of a name: transliterated to ASCII, lower case, words joined by
/// single hyphens, never empty.
pub fn base(name: &str) -> String {
    let slug = ::slug::slugify(name);
    if slug.is_empty() { NAMELESS.to_owned() } else { slug }
}

/// The `number`th candidate for a base, from 1: the base, then the base with a number.
pub fn candidate(base: &str, number: u64) -> String {
    if number <= 1 { base.to_owned() } else { format!("{base}-{number}") }
}

/// All candidates for a base, in order of preference.
pub fn candidates(base: &str) -> impl Iterator<Item = String> {
    (1..).map(move |number| candidate(base, number))
}

/// For a slug that is a later [`candidate`] of a shorter base, that base and
/// its number. A name may bring such a slug too: `Take 2` is `take-2`, and
/// stands in the way of a second vault called `Take`.
pub fn numbered(slug: &str) -> Option<(&str, u64)> {
    let (base, number) = slug.rsplit_once('-')?;
    // Only what `candidate` would write: no sign, no leading zero. No account
    // gets near the bound; numbers above it are never the smallest free one.
    let canonical = !number.starts_with(['0', '+']);
    let number = u64::from(number.parse::<u32>().ok().filter(|_| canonical)?);
    (number >= 2 && !base.is_empty()).then_some((base, number))
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

    #[test]
    fn a_numbered_slug_names_the_base_it_is_a_candidate_of() {
        for number in [2, 3, 10, 4_294_967_295] {
            let slug = candidate("a-b", number);
            assert_eq!(numbered(&slug), Some(("a-b", number)));
        }
        for slug in ["a", "a-1", "a-0", "a-02", "a-b", "a-", "-2", "2", "a-+2", "a-99999999999"] {
            assert_eq!(numbered(slug), None, "{slug}");
        }
    }
}
