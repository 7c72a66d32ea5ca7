//! The key in the header: it has to be whole, known and not revoked.

use futures::future::join_all;

use crate::scenario::core;
use crate::scenarios::endpoints::{self, Ids};
use crate::{Case, Failure, Scenario, check};

use super::{Form, main_key, mistyped, refused_everywhere};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "auth.key.truncated" ["AU-04"] truncated,
        "Every endpoint answers 401 to a truncated key" },
    core! { "auth.key.truncated-anywhere" ["AU-04"] truncated_anywhere,
        "A key that is cut off at any place is answered 401" },
    core! { "auth.key.unknown" ["AU-05"] unknown,
        "Every endpoint answers 401 to an unknown key" },
    core! { "auth.key.mistyped-anywhere" ["AU-05"] mistyped_anywhere,
        "A key with any one character exchanged is answered 401" },
    core! { "auth.key.other-case" ["AU-05"] other_case,
        "A key with any one letter in the other case, or all of them, is answered 401" },
    core! { "auth.key.revoked" ["AU-06"] [RevokedKey] revoked,
        "Every endpoint answers 401 to a revoked key" },
];

async fn truncated(case: Case) -> Result<(), Failure> {
    let key = main_key(&case);
    let cut = |places: usize| {
        let left: String = key.chars().take(key.chars().count().saturating_sub(places)).collect();
        Form::new(format!("the key without its last {places}"), format!("Bearer {left}"))
    };
    let secret = key.rsplit('_').next().unwrap_or(key).len();
    let forms = [cut(1), cut(2), cut(3), cut(8), cut(secret), cut(key.len() / 2)];
    refused_everywhere(&case, &forms).await
}

async fn truncated_anywhere(case: Case) -> Result<(), Failure> {
    let key: Vec<_> = main_key(&case).chars().collect();
    let rounds = (1..key.len()).map(|length| {
        let left: String = key[..length].iter().collect();
        refused(&case, format!("the first {length} characters of the key"), left)
    });
    join_all(rounds).await.into_iter().collect()
}

async fn unknown(case: Case) -> Result<(), Failure> {
    let key = main_key(&case);
    let reversed: String = key.chars().rev().collect();
    // The parts of the key, each put together with what was never given out.
    let (before, secret) = key.rsplit_once('_').unwrap_or(("", key));
    let (vendor, public) = before.split_once("_live_").unwrap_or(("", before));
    let never: String = secret.chars().map(|c| if c == '0' { '1' } else { '0' }).collect();
    let forms = [
        ("one character more", format!("{key}a")),
        ("the last character exchanged", mistyped(key, 0)),
        ("the key backwards", reversed),
        ("another secret", format!("{before}_{never}")),
        ("another public id", format!("{vendor}_live_{public}x_{secret}")),
        ("no public id", format!("{vendor}_live__{secret}")),
        ("another vendor", format!("{vendor}x_live_{public}_{secret}")),
        ("test in place of live", format!("{vendor}_test_{public}_{secret}")),
        ("public id and secret exchanged", format!("{vendor}_live_{secret}_{public}")),
        ("nothing of the key", format!("{vendor}_live_0000000000000000_{never}")),
        ("a word", "null".to_owned()),
    ];
    let form = |(name, key): (&str, String)| Form::new(name, format!("Bearer {key}"));
    refused_everywhere(&case, &forms.map(form)).await
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

async fn revoked(case: Case) -> Result<(), Failure> {
    let ids = Ids::make(&case, &case.wire()).await?;
    for endpoint in endpoints::all(&case, &ids) {
        endpoint.send(&case.revoked()).await?.status(401)?;
    }
    Ok(())
}

async fn refused(case: &Case, name: String, key: String) -> Result<(), Failure> {
    let reply = Form::new(name.clone(), format!("Bearer {key}")).get(case, "/vaults").await?;
    check::about(name, reply.status(401)).map(drop)
}
