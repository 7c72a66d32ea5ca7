//! The account itself: its name, an export and an import of its data, and its deletion.

use std::io::{Read, Seek};

use futures::TryStreamExt;
use http::header::CONTENT_DISPOSITION;
use http::{HeaderValue, StatusCode};
use maud::html;

use super::SIGN_IN;
use super::forms::{Entered, Field, Form, Input};
use super::layout::{confirm_page, redirect};
use super::parts::typed;
use super::uploads::{FILE, Sent, receive};
use super::visit::Visit;
use crate::api::HandlerResult;
use crate::api::export::export as document_of;
use crate::api::import::{ImportError, import as add_document};
use crate::domain::account_name;
use crate::http::error::ApiError;
use crate::http::response;
use crate::http::validate::{FieldErrors, form_fields, text};
use crate::limits::IMPORT_BYTES_MAX;

pub(crate) async fn show(visit: Visit<'_>) -> HandlerResult {
    page(&visit, None, &Entered::default())
}

/// The page, perhaps with a refused form for the name or the import.
fn page(visit: &Visit<'_>, name: Option<&Entered>, import: &Entered) -> HandlerResult {
    let present = Entered::new([("name", &*visit.session.account_name)]);
    let name = name.unwrap_or(&present);
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

pub(crate) async fn rename(mut visit: Visit<'_>) -> HandlerResult {
    let body = visit.form().await?;
    let renamed = async {
        let mut form = form_fields(&body, &["name"]);
        let name = form.required("name", |field| {
            account_name(&text(1..=200)(field)?).map_err(ToOwned::to_owned)
        });
        let name = form.finish_with(name)?;
        Ok::<_, ApiError>(visit.store().rename_account(&visit.caller, &name).await?)
    };
    match renamed.await {
        Ok(()) => visit.done("account", "account-renamed"),
        Err(error) => page(&visit, Some(&visit.refused(&body, error)?), &Entered::default()),
    }
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
    let imported = async {
        let Sent { file, size, memory: _buffer, .. } =
            receive(visit.api, &mut visit.request, IMPORT_BYTES_MAX).await?;
        let mut file = file.ok_or_else(|| refused("is required".to_owned()))?;
        // The document, and what is read from it.
        let _memory = visit.request.memory.reserve(2 * size)?;
        let document = file
            .read(|file| {
                let mut document = Vec::new();
                file.rewind()?;
                file.read_to_end(&mut document)?;
                Ok(document)
            })
            .await?;
        let imported = add_document(&*visit.api.store, &visit.caller, &document).await;
        imported.map_err(|error| match error {
            ImportError::Document(problem) => refused(format!("cannot be imported: {problem}")),
            ImportError::Store(error) => error.into(),
        })
    };
    match imported.await {
        Ok(_) => visit.done("account", "imported"),
        Err(error) => page(&visit, None, &visit.refused(b"", error)?),
    }
}

pub(crate) async fn confirm(visit: Visit<'_>) -> HandlerResult {
    let question = html! {
        "Delete the account " strong { (typed(&visit.session.account_name, 200)) } " with all its "
        "prompts, vaults, jobs, keys and sessions? This cannot be undone. To confirm, type its name."
    };
    let name = Field::new("name", "Name of the account", Input::Line).required();
    let page = visit.page("account", "Delete the account");
    confirm_page(&page, &question, ("Delete everything", vec![name]), "account")
}

pub(crate) async fn delete(mut visit: Visit<'_>) -> HandlerResult {
    let body = visit.form().await?;
    if Entered::parse(&body).value("name") != &*visit.session.account_name {
        let text = "this is not the name of the account; nothing was deleted";
        return Err(FieldErrors::of("body", format!("is refused: {text}")).into());
    }
    visit.store().delete_account(&visit.caller).await?;
    let page = SIGN_IN.trim_start_matches('/');
    redirect(&visit.api.site, page, Some(visit.api.site.set_cookies(None)?))
}
