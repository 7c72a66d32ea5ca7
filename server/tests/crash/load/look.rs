//! Looking at what was acknowledged while the others go on: whichever replica is
//! asked must show it.

use http::Method;

use super::Client;
use crate::account::members;
use crate::http::{Answer, Got};

impl Client {
    pub(super) async fn look_at_prompt(&mut self, id: i64) {
        let Some(answer) = self.look(&format!("/prompts/{id}")).await else { return };
        let prompt = &self.account.world.prompts[&id];
        let data = answer.data();
        let same = answer.status == 200
            && data["title"] == *prompt.title
            && data["prompt"] == *prompt.text;
        if !same {
            let what = format!("GET /prompts/{id}, which is {prompt:?},");
            self.wrong(&what, &answer);
        }
    }

    /// Learns the ids of memberships.
    pub(super) async fn look_at_vault(&mut self, id: i64) {
        let Some(answer) = self.look(&format!("/vaults/{id}/prompts")).await else { return };
        let expected = self.account.world.vaults[&id].listed();
        let expected: Vec<_> = expected.iter().map(|one| (one.prompt, one.is_pinned())).collect();
        let seen = if answer.status == 200 { members(&answer.data()) } else { Vec::new() };
        let same = seen.iter().map(|one| (one.prompt, one.pinned)).eq(expected.iter().copied());
        if answer.status != 200 || !same {
            let shown = seen.iter().map(|one| (one.prompt, one.pinned)).collect::<Vec<_>>();
            let what =
                format!("GET /vaults/{id}/prompts, which is {expected:?}, gave {shown:?} and");
            self.wrong(&what, &answer);
            return;
        }
        let vault = self.account.world.vaults.get_mut(&id).unwrap();
        for member in &mut vault.members {
            member.id = seen.iter().find(|one| one.prompt == member.prompt).map(|one| one.id);
        }
    }

    async fn look(&mut self, path: &str) -> Option<Answer> {
        match self.call(Method::GET, path, None, path).await? {
            Got::Answer(answer) => {
                self.account.tally.reads += 1;
                Some(answer)
            }
            Got::NotSent | Got::Unknown(_) => None,
        }
    }
}
