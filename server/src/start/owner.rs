//! The account whose key a start creates, and links that sign its owner in.

use std::sync::Arc;

use crate::config::{Config, SeedKey};
use crate::domain::{GeneratedKey, NewKey, PublicUrl, Scopes, SecretToken};
use crate::store::postgres::PostgresStore;
use crate::store::{Store, StoreError};

/// The account that is created if no key is seeded.
pub(crate) const DEFAULT_ACCOUNT: &str = "default";

/// Makes sign-in links for the account of the created key, or of the first seeded one.
#[derive(Clone)]
pub struct SignInLinks {
    pub(super) store: Arc<dyn Store>,
    pub(super) public: PublicUrl,
    /// `None` where there is no such key.
    pub(super) account: Option<Arc<str>>,
}

impl SignInLinks {
    /// A link with a new code, which can be used once. `None` without an account.
    ///
    /// # Errors
    /// If the code cannot be stored.
    pub async fn make(&self) -> Result<Option<String>, StoreError> {
        let Some(account) = &self.account else { return Ok(None) };
        let code = SecretToken::make();
        self.store.create_sign_in_code(account, code.digest()).await?;
        Ok(Some(code.sign_in_link(&self.public)))
    }

    /// The first page, which needs a session.
    pub fn dashboard_url(&self) -> String {
        format!("{}/", self.public.url().as_str().trim_end_matches('/'))
    }
}

impl std::fmt::Debug for SignInLinks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignInLinks").field("account", &self.account).finish_non_exhaustive()
    }
}

/// Creates the keys that the configuration names. One that cannot be created is not worth a stop of
/// the service: its owner may have revoked it.
async fn seed(store: &dyn Store, seeds: &[SeedKey]) -> Result<(), StoreError> {
    for SeedKey { account, key } in seeds {
        match store.seed_key(account, key.clone()).await {
            Err(StoreError::KeyTaken) => tracing::warn!(
                public_id = &*key.public_id,
                account,
                "a seed key was not created: it is revoked, or another key has its public id. \
                 Remove it from --seed-key, and create another one with `key create`"
            ),
            outcome => outcome?,
        }
    }
    Ok(())
}

/// Creates the seeded keys, or the first one: in a shared database only while it has no account.
/// Returns the key that was made, the account of that or of the first seeded key, and whether this
/// account is new.
pub(super) async fn owner(
    store: &dyn Store,
    database: Option<&PostgresStore>,
    config: &Config,
) -> Result<(Option<GeneratedKey>, Option<Arc<str>>, bool), StoreError> {
    if let Some(first) = config.seeds.first() {
        let is_new = match database {
            None => true,
            Some(database) => database.keys_of(&first.account).await?.is_none(),
        };
        seed(store, &config.seeds).await?;
        return Ok((None, Some(first.account.as_str().into()), is_new));
    }
    let key = config.settings.vendor.make();
    let new = NewKey::new(&key, Scopes::ALL);
    let is_created = match database {
        None => store.seed_key(DEFAULT_ACCOUNT, new).await.map(|_| true)?,
        Some(database) => database.seed_first_key(DEFAULT_ACCOUNT, &new).await?,
    };
    let key = is_created.then_some(key);
    let account = key.as_ref().map(|_| DEFAULT_ACCOUNT.into());
    Ok((key, account, true))
}
