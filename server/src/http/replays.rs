//! Forms that were sent: sending one again leads to the result of the first time.
//!
//! Each form that creates something holds a random token. The first request with a token does the
//! work; those that follow, or that come while it is done, get its result. A failed attempt leaves
//! the token unused, so that the form can be corrected and sent again.
//!
//! Each server remembers its own tokens, so behind a balancer a form that is sent to two servers is
//! carried out twice.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::OnceCell;
use uuid::Uuid;

use crate::domain::AccountId;
use crate::http::error::ApiError;

/// Remembered tokens of all accounts; the oldest are forgotten first.
const TOKENS_MAX: usize = 4_096;

type Entry = (AccountId, Uuid, Arc<OnceCell<String>>);

/// The tokens of forms, each with the page that its result is on. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Replays(Arc<Mutex<VecDeque<Entry>>>);

impl Replays {
    /// Runs `work` unless a form with this token was carried out; returns the page of the result.
    pub(crate) async fn once<F: Future<Output = Result<String, ApiError>>>(
        &self,
        account: AccountId,
        token: Uuid,
        work: impl FnOnce() -> F,
    ) -> Result<String, ApiError> {
        let cell = self.cell(account, token);
        cell.get_or_try_init(work).await.cloned()
    }

    fn cell(&self, account: AccountId, token: Uuid) -> Arc<OnceCell<String>> {
        let mut entries = self.0.lock();
        let is_same = |entry: &&Entry| (entry.0, entry.1) == (account, token);
        if let Some((.., cell)) = entries.iter().find(is_same) {
            return cell.clone();
        }
        if entries.len() == TOKENS_MAX {
            entries.pop_front();
        }
        let cell = Arc::default();
        entries.push_back((account, token, Arc::clone(&cell)));
        cell
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

    #[tokio::test]
    async fn the_oldest_tokens_are_forgotten() {
        let replays = Replays::default();
        for token in 0..=TOKENS_MAX as u128 {
            run(&replays, 1, token, "first").await;
        }
        assert_eq!(run(&replays, 1, 1, "again").await, "first");
        assert_eq!(run(&replays, 1, 0, "again").await, "again");
    }
}
