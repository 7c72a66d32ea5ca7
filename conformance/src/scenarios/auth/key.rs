//! The key in the header: it has to be whole, known and not revoked.

use futures::future::join_all;

use crate::scenario::core;
use crate::{Case, Failure, Scenario, check};

use super::{Form, main_key, mistyped};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "auth.key.truncated-anywhere" ["AU-04"] truncated_anywhere,
        "A key that is cut off at any place is answered 401" },
    core! { "auth.key.mistyped-anywhere" ["AU-05"] mistyped_anywhere,
        "A key with any one character exchanged is answered 401" },
    core! { "auth.key.other-case" ["AU-05"] other_case,
        "A key with any one letter in the other case, or all of them, is answered 401" },
];

async fn truncated_anywhere(case: Case) -> Result<(), Failure> {
    let key: Vec<_> = main_key(&case).chars().collect();
    let rounds = (1..key.len()).map(|length| {
        let left: String = key[..length].iter().collect();
        refused(&case, format!("the first {length} characters of the key"), left)
    });
    join_all(rounds).await.into_iter().collect()
}

async fn mistyped_anywhere(case: Case) -> Result<(), Failure> {
    let key = main_key(&case);
    let rounds = (0..key.chars().count()).map(|place| {
        let name = format!("the key with character {place} from its end exchanged");
        refused(&case, name, mistyped(key, place))
    });
    join_all(rounds).await.into_iter().collect()
}

async fn other_case(case: Case) -> Result<(), Failure> {
    let key = main_key(&case);
    let one = |place: usize| {
        let other = |(at, c): (usize, char)| if at == place { in_other_case(c) } else { c };
        key.chars().enumerate().map(other).collect::<String>()
    };
    let spellings = (0..key.chars().count()).map(one).chain([
        key.to_uppercase(),
        key.to_lowercase(),
        key.chars().map(in_other_case).collect(),
    ]);
    let rounds =
        spellings.enumerate().filter(|(_, spelling)| spelling != key).map(|(number, spelling)| {
            refused(&case, format!("spelling {number} of the key"), spelling)
        });
    join_all(rounds).await.into_iter().collect()
}

fn in_other_case(c: char) -> char {
    if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
}

async fn refused(case: &Case, name: String, key: String) -> Result<(), Failure> {
    let reply = Form::new(name.clone(), format!("Bearer {key}")).get(case, "/vaults").await?;
    check::with_context(name, reply.status(401)).map(drop)
}
