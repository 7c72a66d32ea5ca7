//! Operations on sign-in, sessions and keys. Codes and the ids of sessions are numbered, so their
//! digests are the same on every store.

use super::ops::{Action, Values};
use super::runner::{Runner, show};
use crate::domain::{ApiKeyRecord, Caller, NamedKey, NewKey, Scopes, SessionRecord};
use crate::store::Result;

/// What the test knows of a store's sessions.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    codes: u8,
    started: u8,
    /// All callers that signed in, also those whose session has ended.
    callers: Vec<Caller>,
}

/// One of the last few numbers, or the next one, which nothing has yet.
fn recent(count: u8, values: &mut Values) -> [u8; 32] {
    [count.wrapping_sub(u8::try_from(values.below(4)).expect("it is small")); 32]
}

impl Runner<'_> {
    pub(super) async fn on_sessions(
        &mut self,
        action: Action,
        values: &mut Values,
    ) -> Result<String> {
        let store = self.store;
        let session = values.chance(40).then(|| values.choose(&self.sessions.callers)).flatten();
        let caller = session.unwrap_or_else(|| self.callers[values.account].clone());
        // The names of seeded keys, and others.
        let public_id = format!("key-{}", values.below(12));
        match action {
            Action::CreateSignInCode => {
                let name =
                    format!("account-{}", if values.chance(10) { 99 } else { values.account });
                store.create_sign_in_code(&name, [self.sessions.codes; 32]).await?;
                self.sessions.codes = self.sessions.codes.wrapping_add(1);
                Ok(show(()))
            }
            Action::SignIn => {
                let code = recent(self.sessions.codes, values);
                let browser = values.maybe(Values::text);
                let id = [self.sessions.started; 32];
                let started = store.sign_in(code, id, browser.as_deref()).await?;
                if let Some(session) = &started {
                    self.sessions.started = self.sessions.started.wrapping_add(1);
                    self.sessions.callers.push(session.caller());
                    let owner = |caller: &Caller| caller.account == session.account;
                    if let Some(owner) = self.callers.iter().position(owner) {
                        self.keys.add_owned(owner, session.id);
                    }
                }
                Ok(show(("signed in", started.map(|session| self.normalize_session(session)))))
            }
            Action::FindSession => {
                let found = store.find_session(recent(self.sessions.started, values)).await?;
                Ok(show(("session", found.map(|session| self.normalize_session(session)))))
            }
            Action::EndSession => {
                let id = self.keys.pick(values);
                store.end_session(&caller, id).await.map(show)
            }
            Action::CreateApiKey => {
                let scopes = Scopes { prompts_write: values.chance(50) };
                let digest = [values.byte() % 2; 32];
                let revoked = values.chance(10);
                let key = NewKey { public_id: public_id.into(), digest, scopes, revoked };
                let new = NamedKey { name: (&*values.text()).into(), key };
                store.create_api_key(&caller, new).await.map(show)
            }
            _ => store.revoke_api_key(&caller, &public_id).await.map(normalize_key).map(show),
        }
    }

    /// The sessions and keys of an account.
    pub(super) async fn sessions_snapshot(&mut self, caller: &Caller) -> Result<String> {
        let sessions = self.store.sessions(caller).await?.into_iter();
        let sessions: Vec<_> = sessions.map(|session| self.normalize_session(session)).collect();
        let keys = self.store.api_keys(caller).await?.into_iter().map(normalize_key);
        Ok(show((sessions, keys.collect::<Vec<_>>())))
    }

    fn normalize_session(&mut self, session: SessionRecord) -> SessionRecord {
        SessionRecord {
            id: self.keys.normalize(session.id),
            account: self.accounts.normalize(session.account),
            ..session
        }
    }
}

/// A database is told of the last use while the next operation runs already.
fn normalize_key(key: ApiKeyRecord) -> ApiKeyRecord {
    ApiKeyRecord { last_used_at: None, ..key }
}
