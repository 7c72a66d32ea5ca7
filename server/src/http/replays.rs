//! Forms that were sent: sending one again leads to the result of the first time.
//!
//! Each form that creates something holds a random token. The first request with a token does the
//! work; those that follow, or that come while it is done, get its result. A failed attempt leaves
//! the token unused, so that the form can be corrected and sent again.
//!
//! Each server remembers its own tokens, so behind a balancer a form that is sent to two servers is
//! carried out twice.

use std::sync::Arc;

use quick_cache::sync::Cache;
use uuid::Uuid;

use crate::domain::AccountId;
use crate::http::error::ApiError;

/// Remembered tokens of all accounts. Of more, those that were not sent again are forgotten first.
const TOKENS_MAX: usize = 4_096;

/// The tokens of forms, each with the page that its result is on. Cheap to clone.
#[derive(Clone)]
pub struct Replays(Arc<Cache<(AccountId, Uuid), String>>);

impl Default for Replays {
    fn default() -> Self {
        Self(Arc::new(Cache::new(TOKENS_MAX)))
    }
}

impl Replays {
    /// Runs `work` unless a form with this token was carried out; returns the page of the result.
    pub(crate) async fn once<F: Future<Output = Result<String, ApiError>>>(
        &self,
        account: AccountId,
        token: Uuid,
        work: impl FnOnce() -> F,
    ) -> Result<String, ApiError> {
        self.0.get_or_insert_async(&(account, token), work()).await
    }
}

#[cfg(test)]
mod tests {
    use futures::future::join;
    use tokio::task::yield_now;

    use super::*;

    async fn run(replays: &Replays, account: i64, token: u128, page: &str) -> String {
        let work = || async {
            yield_now().await;
            Ok(page.to_owned())
        };
        replays.once(AccountId(account), Uuid::from_u128(token), work).await.unwrap()
    }

    #[tokio::test]
    async fn a_token_works_once_for_each_account_also_at_the_same_time() {
        let replays = Replays::default();
        let both = join(run(&replays, 1, 1, "first"), run(&replays, 1, 1, "second")).await;
        assert_eq!(both, ("first".to_owned(), "first".to_owned()));
        assert_eq!(run(&replays, 1, 1, "third").await, "first");
        assert_eq!(run(&replays, 1, 2, "other token").await, "other token");
        assert_eq!(run(&replays, 2, 1, "other account").await, "other account");
    }

    #[tokio::test]
    async fn a_failed_attempt_leaves_the_token_unused() {
        let replays = Replays::default();
        let failing = || async { Err(ApiError::NotFound) };
        let token = Uuid::from_u128(1);
        assert!(replays.once(AccountId(1), token, failing).await.is_err());
        assert_eq!(run(&replays, 1, 1, "corrected").await, "corrected");
    }
}
