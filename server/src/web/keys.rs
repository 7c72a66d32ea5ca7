//! The keys of the account.

use super::prelude::*;
use crate::api::keys::{SCOPES, issue, name};
use crate::limits::API_KEYS_MAX;

const REVOKE: &str = "Programs that use this key stop working at once. This cannot be undone.";

pub(crate) async fn list(visit: Visit<'_>) -> HandlerResult {
    page(&visit, Entered::of(json!({ "scope": SCOPES[0].0 }))).await
}

async fn page(visit: &Visit<'_>, entered: Entered) -> HandlerResult {
    let keys = visit.store().api_keys(&visit.caller).await?;
    let choice = |scope: &str| (scope.to_owned(), format!("Read and write ({scope})"));
    let mut scopes: Choices = SCOPES.iter().map(|(scope, _)| choice(scope)).collect();
    scopes.push((String::new(), "Read only".to_owned()));
    let help = format!("The program or device that uses it. At most {API_KEYS_MAX} active keys.");
    let name = Field::new("name", "Name", Input::Line).required().help(help);
    let scope = Field::new("scope", "Permissions", Input::Select(scopes));
    let form = Form::new("Create key", vec![name, scope]);
    let content = html! {
        @if keys.is_empty() { p .empty { "No keys yet. Create one to use the API." } }
        (list_of(&keys, |key| entry(visit, key)))
        h2 #new { "New key" }
        (entered.form(&visit.api.site, &form))
    };
    Ok(visit.page("keys", "Keys").response(entered.status(), &content))
}

fn entry(visit: &Visit<'_>, key: &KeyRecord) -> Markup {
    html! {
        li {
            strong { (title(key)) }
            p .soft {
                code { (key.public_id) } " · " (rights(key)) " · created " (visit.ago(key.created_at))
                @if let Some(at) = key.last_used_at { " · last used " (visit.ago(at)) }
                @else { " · never used" }
            }
            @match key.revoked_at {
                Some(at) => p .soft { span .bad { "Revoked" } " " (visit.ago(at)) },
                // Public ids are letters and digits.
                None => (visit.ask("Revoke", REVOKE, &format!("keys/{}/revoke", key.public_id), &html! {
                    button .danger { "Revoke " (title(key)) }
                })),
            }
        }
    }
}

/// `POST /keys`. The response is the only one with the key, and no redirect: what a redirect
/// leads to could be asked for again. Sent again, the form leads to the list of keys.
pub(crate) async fn create(visit: Visit<'_>) -> HandlerResult {
    let mut created = None;
    let outcome = visit.once(async {
        let mut form = form_fields(&visit.sent, &["name", "scope"]);
        let name = form.required("name", name);
        let scopes = form.optional("scope", one_of(SCOPES)).unwrap_or_default();
        let name = form.finish_with(name)?;
        created = Some(issue(visit.api, &visit.caller, &name, scopes).await?);
        Ok(done_address("keys", "key-created"))
    });
    let outcome = ready(outcome.await);
    let Some((record, key)) = created else {
        return visit.form(Entered::default(), outcome, |entered| page(&visit, entered)).await;
    };
    let content = html! {
        p { "Key " strong { (title(&record)) } " created. Permissions: " (rights(&record)) "." }
        div .card {
            p { strong { "Copy it now." } " It will not be shown again." }
            pre data-copy="Copy this line" tabindex="0" role="region" aria-label="Line for a shell" {
                "export PROMPTARIUM_API_KEY=" (key.expose())
            }
        }
        p { (visit.link("keys", "Done, show all keys")) }
    };
    visit.page("keys", "New key").show(&content)
}

pub(crate) async fn revoke(visit: Visit<'_>) -> HandlerResult {
    let public_id = visit.request.params.text(0).ok_or(ApiError::NotFound)?;
    visit.store().revoke_api_key(&visit.caller, &public_id).await?;
    visit.done("keys", "key-revoked")
}

fn title(key: &KeyRecord) -> Markup {
    titled(key.name.as_deref().unwrap_or("Unnamed key"), 100)
}

const fn rights(key: &KeyRecord) -> &'static str {
    if key.scopes.prompts_write { "read and write" } else { "read only" }
}
