//! Operations on sign-in, sessions and keys. Codes and the ids of sessions are numbered, so their
//! digests are the same on every store.

use super::ops::{Action, Values};
use super::runner::{Runner, show, without_last_use};
use crate::domain::{Caller, KeyId, NewKey};
use crate::store::Result;

/// What the test knows of a store's sessions.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
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
        Ok(match action {
            Action::CreateSignInCode => {
                let name =
                    format!("account-{}", if values.chance(10) { 99 } else { values.account });
                store.create_sign_in_code(&name, [self.sessions.codes; 32]).await?;
                self.sessions.codes = self.sessions.codes.wrapping_add(1);
                show(())
            }
            Action::SignIn => {
                let code = recent(self.sessions.codes, values);
                let browser = values.maybe(Values::text);
                let id = [self.sessions.started; 32];
                let started = store.sign_in(code, id, browser.as_deref()).await?;
                if let Some(session) = &started {
                    self.sessions.started = self.sessions.started.wrapping_add(1);
                    self.sessions.callers.push(session.caller());
                }
                show(("signed in", started))
            }
            Action::FindSession => {
                let digest = recent(self.sessions.started, values);
                show(("session", store.find_session(digest).await?))
            }
            Action::EndSession => {
                let id = KeyId(self.ids.pick("Key", values));
                show(store.end_session(&caller, id).await?)
            }
            Action::CreateApiKey => {
                let name = Some((&*values.text()).into());
                let new = NewKey { name, ..values.new_key(&public_id, 10) };
                show(store.create_api_key(&caller, new).await?)
            }
            _ => show(without_last_use(store.revoke_api_key(&caller, &public_id).await?)),
        })
    }
}
