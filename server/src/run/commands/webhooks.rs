//! Commands on the webhooks of accounts.

use std::sync::Arc;

use promptarium::WebhookId;
use serde_json::json;

use super::{Failure, Output, list, refused};
use crate::config::WebhookCommand;
use crate::program::webhooks;
use crate::store::Store;
use crate::store::webhooks::change_webhooks;

const COLUMNS: [&str; 6] = ["id", "account", "url", "created_at", "failing_since", "disabled"];

pub(super) async fn run(
    store: &Arc<dyn Store>,
    command: WebhookCommand,
) -> Result<Output, Failure> {
    let store = webhooks::of(store).ok_or_else(|| refused("this store has no webhooks"))?;
    let all = store.all_webhooks().await?;
    match command {
        WebhookCommand::List { account } => {
            let all = all.iter().filter(|(name, ..)| account.as_ref().is_none_or(|of| of == name));
            let entries = all.flat_map(|(account, _, webhooks)| {
                webhooks.all.iter().map(move |webhook| {
                    json!({
                        "id": webhook.id,
                        "account": account,
                        "url": &*webhook.url,
                        "created_at": webhook.created_at,
                        "failing_since": webhook.failing_since,
                        "disabled": webhook.disabled.as_deref(),
                    })
                })
            });
            Ok(list("webhooks", &COLUMNS, entries))
        }
        WebhookCommand::Disable { account, id } => {
            let found = all.iter().find(|(name, ..)| *name == account);
            let absent = || refused(format!("the account {account} has no webhook {id}"));
            change_webhooks(&*store, found.ok_or_else(absent)?.1, |webhooks| {
                let webhook = webhooks.get_mut(WebhookId::new(id)).ok_or_else(absent)?;
                webhook.disable("the operator has turned it off");
                Ok::<_, Failure>(())
            })
            .await?;
            let text = format!("webhook {id} of account {account} is disabled\n");
            Ok((text, json!({ "id": id, "account": account, "disabled": true })))
        }
    }
}
