//! Who may call: the header, the key in it, and its scope.

mod answer;
mod credentials;

use http::Method;

use crate::wire::{ApiResponse, Call};
use crate::{Case, Failure, Scenario, check};

pub(super) const ALL: &[&[Scenario]] = &[credentials::ALL, answer::ALL];

/// Values of the header `Authorization`, one or more, and what to call them: reports do not show
/// the header itself.
pub(super) struct Authorization {
    name: String,
    values: Vec<String>,
}

impl Authorization {
    pub(super) fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), values: vec![value.into()] }
    }

    fn two(name: &str, values: [&str; 2]) -> Self {
        Self { name: name.into(), values: values.map(str::to_owned).into() }
    }

    /// The call with these values is answered 401.
    pub(super) async fn unauthorized(&self, call: Call) -> Result<ApiResponse, Failure> {
        let call = self.values.iter().fold(call, |call, value| call.header("authorization", value));
        let reply = call.send().await?;
        check::with_context(&self.name, reply.status(401))?;
        Ok(reply)
    }

    /// `GET /vaults` with these values is answered 401.
    async fn vaults_unauthorized(&self, case: &Case) -> Result<ApiResponse, Failure> {
        self.unauthorized(case.anonymous().call(Method::GET, "/vaults")).await
    }
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
