//! Which paths an entry of a script is for.

use std::fmt;

/// A path, with parts left open.
pub(super) struct Pattern(String);

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub(super) fn fits(&self, path: &str) -> bool {
        let (mut wanted, mut found) = (self.0.split('/'), path.split('/'));
        loop {
            match (wanted.next(), found.next()) {
                (None, None) => return true,
                (Some(wanted), Some(found)) if is_open(wanted) && !found.is_empty() => {}
                (Some(wanted), Some(found)) if wanted == found => {}
                _ => return false,
            }
        }
    }
}

fn is_open(part: &str) -> bool {
    part.starts_with('{') && part.ends_with('}')
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn a_part_in_braces_stands_for_any_one_part() {
        let pattern = Pattern::new("/vaults/{vaultId}/prompts");
        assert!(pattern.fits("/vaults/3/prompts") && pattern.fits("/vaults/x%2Fy/prompts"));
        for path in ["/vaults/3", "/vaults//prompts", "/vaults/3/prompts/7", "/vaults/3/pins", "/"]
        {
            assert!(!pattern.fits(path), "{path}");
        }
        assert!(Pattern::new("https://a.example/{name}").fits("https://a.example/b.png"));
        assert!(!Pattern::new("https://a.example/{name}").fits("https://b.example/b.png"));
    }
}
