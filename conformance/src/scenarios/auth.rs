//! Who may call: the header, the key in it, and its scope.

mod answer;
mod header;
mod key;
mod scope;

use crate::scenarios::endpoints::{self, Ids};
use crate::wire::Reply;
use crate::{Case, Failure, Scenario, check};

pub(super) const ALL: &[&[Scenario]] = &[header::ALL, key::ALL, scope::ALL, answer::ALL];

/// Values of the header `Authorization`, one or more, and what to call them:
/// reports do not show the header itself.
struct Form {
    name: String,
    values: Vec<String>,
}

impl Form {
    fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), values: vec![value.into()] }
    }

    async fn get(&self, case: &Case, path: &str) -> Result<Reply, Failure> {
        let mut call = case.anonymous().call(http::Method::GET, path);
        for value in &self.values {
            call = call.header("authorization", value);
        }
        call.send().await
    }
}

/// Every endpoint answers 401 to each of the forms.
async fn refused_everywhere(case: &Case, forms: &[Form]) -> Result<(), Failure> {
    let ids = Ids::make(case, &case.wire()).await?;
    let endpoints = endpoints::all(case, &ids);
    for form in forms {
        for endpoint in &endpoints {
            let mut call = endpoint.call(&case.anonymous());
            for value in &form.values {
                call = call.header("authorization", value);
            }
            check::with_context(&form.name, call.send().await?.status(401))?;
        }
    }
    Ok(())
}

/// The key of the account under test.
pub(super) fn main_key(case: &Case) -> &str {
    &case.target().config.api_key
}

/// The key with the character at a place, counted from the end, exchanged.
pub(super) fn mistyped(key: &str, from_end: usize) -> String {
    let mut characters: Vec<_> = key.chars().collect();
    let place = characters.len().saturating_sub(from_end + 1);
    if let Some(character) = characters.get_mut(place) {
        *character = if *character == 'a' { 'b' } else { 'a' };
    }
    characters.into_iter().collect()
}
