//! An answer does not tell whether a thing of another account exists: it is
//! the same, byte for byte, as for a thing that never was.

use http::HeaderMap;

use crate::scenario::reference;
use crate::scenarios::endpoints::{self, absent};
use crate::wire::Reply;
use crate::{Case, Failure, Scenario, check};

use super::bodies::Place;
use super::both_ways;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "isolation.answer.paths" ["ER-08", "ER-10", "VA-30"] [OtherAccount] paths,
        "A path of another account and a path of nothing get the same answer (S-57)" },
    reference! { "isolation.answer.bodies" ["ER-03"] [OtherAccount] bodies,
        "An id of another account and an id of nothing in a body or query get the same answer \
         (S-57)" },
];

async fn paths(case: Case) -> Result<(), Failure> {
    for pair in both_ways(&case) {
        let (_, _, tried) = pair.make(&case).await?;
        let foreign = endpoints::all(&case, &tried).into_iter();
        for (foreign, nothing) in foreign.zip(endpoints::all(&case, &tried.absent())) {
            if foreign.names_prompt() || foreign.names_vault() {
                let expected = nothing.send(&pair.stranger).await?;
                same(&foreign.send(&pair.stranger).await?, &expected, None)?;
            }
        }
    }
    Ok(())
}

async fn bodies(case: Case) -> Result<(), Failure> {
    for pair in both_ways(&case) {
        let (owned, strange, _) = pair.make(&case).await?;
        for place in Place::ALL {
            let foreign = place.id(&owned);
            let nothing = absent(foreign);
            let expected = place.call(&pair.stranger, &strange, nothing).await?;
            let got = place.call(&pair.stranger, &strange, foreign).await?;
            let same = same(&got, &expected, Some((foreign, nothing)));
            check::about(format!("{place:?}"), same)?;
        }
    }
    Ok(())
}

/// Status, body and headers are the same. An answer may repeat the id that
/// was sent; that is no difference.
pub(super) fn same(got: &Reply, expected: &Reply, ids: Option<(i64, i64)>) -> Result<(), Failure> {
    let text = |reply: &Reply, id: Option<i64>| {
        let text = String::from_utf8_lossy(reply.body()).into_owned();
        id.map_or(text.clone(), |id| text.replace(&id.to_string(), "<id>"))
    };
    let got_text = text(got, ids.map(|(id, _)| id));
    let text = text(expected, ids.map(|(_, id)| id));
    got.status(expected.status_code())?;
    got.ensure(got_text == text, format!("the body {text}"), &got_text)?;
    let (got_names, names) = (names(got.headers()), names(expected.headers()));
    got.ensure(got_names == names, format!("the headers {names:?}"), format!("{got_names:?}"))?;
    Ok(())
}

fn names(headers: &HeaderMap) -> Vec<&str> {
    let mut names: Vec<_> = headers.keys().map(http::HeaderName::as_str).collect();
    names.sort_unstable();
    names
}
