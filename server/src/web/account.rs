//! The account itself: its name, an export and an import of its data, and its deletion.

use std::future::ready;
use std::io::{Read, Seek};

use futures::TryStreamExt;
use http::header::CONTENT_DISPOSITION;
use http::{HeaderValue, StatusCode};
use maud::html;
use serde_json::json;

use super::SIGN_IN;
use super::forms::{Entered, Field, Form, Input};
use super::layout::{done_address, redirect};
use super::parts::typed;
use super::uploads::{FILE, Sent, receive};
use super::visit::Visit;
use crate::api::HandlerResult;
use crate::api::export::export as document_of;
use crate::api::import::parse;
use crate::domain::account_name;
use crate::http::error::ApiError;
use crate::http::response;
use crate::http::validate::{FieldErrors, form_fields, text};
use crate::limits::IMPORT_BYTES_MAX;

pub(crate) async fn show(visit: Visit<'_>) -> HandlerResult {
    page(&visit, &name_of(&visit), &Entered::default())
}

fn name_of(visit: &Visit<'_>) -> Entered {
    Entered::of(json!({ "name": *visit.session.account_name }))
}

/// The page with the forms for the name and the import.
fn page(visit: &Visit<'_>, name: &Entered, import: &Entered) -> HandlerResult {
    let line = Field::new("name", "Name", Input::Line).required().help(
        "1 to 200 characters without spaces, : , and =. It is in the addresses of your public \
         vaults.",
    );
    let rename = Form { action: Some("account/name"), ..Form::new("Rename", vec![line]) };
    let file = Field::new(FILE, "File", Input::File("application/json,.json".to_owned()));
    let most = IMPORT_BYTES_MAX >> 20;
    let file = file.required().help(format!(
        "An export of this or another account, at most {most} MiB. Its prompts and vaults are added \
         to yours, all of them or none."
    ));
    let from_file = Form { action: Some("account/import"), ..Form::new("Import", vec![file]) };
    let content = html! {
        h2 { "Name" }
        (name.form(&visit.api.site, &rename))
        h2 { "Export" }
        p {
            "All prompts and vaults as one JSON file, with references to pictures. The pictures "
            "themselves stay on this server."
        }
        p { a .button href=(visit.at("account/export")) download { "Download an export" } }
        h2 { "Import" }
        (import.form(&visit.api.site, &from_file))
        h2 { "Delete" }
        p { "This deletes all prompts, vaults, jobs, keys and sessions of the account." }
        p { (visit.button("account/delete", "Delete the account")) }
    };
    let status = name.status().max(import.status());
    Ok(visit.page("account", "Account").response(status, &content))
}

pub(crate) async fn rename(visit: Visit<'_>) -> HandlerResult {
    let renamed = async {
        let mut form = form_fields(&visit.sent, &["name"]);
        let name = form.required("name", |field| {
            account_name(&text(1..=200)(field)?).map_err(ToOwned::to_owned)
        });
        visit.store().rename_account(&visit.caller, &form.finish_with(name)?).await?;
        Ok(done_address("account", "account-renamed"))
    };
    let form = |entered| ready(page(&visit, &entered, &Entered::default()));
    visit.form(Entered::default(), renamed, form).await
}

pub(crate) async fn export(Visit { api, session, caller, .. }: Visit<'_>) -> HandlerResult {
    let (store, now) = (api.store.clone(), api.clock.now());
    let document = document_of(store, caller, &session.account_name, now).await?;
    let body = response::stream(document.map_err(ApiError::from));
    let mut response = response::with_type(StatusCode::OK, "application/json", body);
    let file = HeaderValue::from_static("attachment; filename=\"promptarium-export.json\"");
    response.headers_mut().insert(CONTENT_DISPOSITION, file);
    Ok(response)
}

pub(crate) async fn import(mut visit: Visit<'_>) -> HandlerResult {
    let refused = |text: String| ApiError::from(FieldErrors::of(FILE, text));
    let sent = receive(&mut visit, IMPORT_BYTES_MAX).await;
    let imported = async {
        let Sent { file, size, memory: _buffer } = sent?;
        let mut file = file.ok_or_else(|| refused("is required".to_owned()))?;
        // The document, and what is read from it.
        let _memory = visit.request.memory.reserve(2 * size)?;
        let read = file.read(|file| {
            let mut document = Vec::new();
            file.rewind()?;
            file.read_to_end(&mut document)?;
            Ok(document)
        });
        let document = read.await?;
        let data = parse(&document);
        let data = data.map_err(|problem| refused(format!("cannot be imported: {problem}")))?;
        visit.store().import(&visit.caller, data).await?;
        Ok(done_address("account", "imported"))
    };
    let form = |entered| ready(page(&visit, &name_of(&visit), &entered));
    visit.form(Entered::default(), imported, form).await
}

pub(crate) async fn delete(visit: Visit<'_>) -> HandlerResult {
    let (name, site) = (&*visit.session.account_name, &visit.api.site);
    if !visit.is_sent() {
        let question = html! {
            "Delete the account " strong { (typed(name, 200)) } " with all its prompts, vaults, jobs, "
            "keys and sessions? This cannot be undone. To confirm, type its name."
        };
        let name = Field::new("name", "Name of the account", Input::Line).required();
        let page = visit.page("account", "Delete the account");
        return page.confirm(&question, ("Delete everything", vec![name]), "account");
    }
    if visit.entered.value("name") != name {
        let text = "is refused: this is not the name of the account; nothing was deleted";
        return Err(FieldErrors::of("body", text).into());
    }
    visit.store().delete_account(&visit.caller).await?;
    redirect(site, SIGN_IN.trim_start_matches('/'), Some(site.set_cookies(None)?))
}
