//! The account itself: its name, an export and an import of its data, and its deletion.

use std::io::{Read, Seek};

use futures::TryStreamExt;
use http::header::CONTENT_DISPOSITION;
use http::{HeaderValue, StatusCode};

use super::prelude::*;
use super::sessions::SIGN_IN;
use super::uploads::{FILE, Sent, receive};
use crate::api::export::export as document_of;
use crate::api::import::parse;
use crate::http::response;
use crate::limits::product::IMPORT_BYTES_MAX;

const DELETE: &str = "This cannot be undone. Type the account name to confirm.";

pub(crate) async fn show(visit: Visit<'_>) -> HandlerResult {
    page(&visit, &name_of(&visit), &Entered::default())
}

fn name_of(visit: &Visit<'_>) -> Entered {
    Entered::of(json!({ "name": *visit.session.account_name }))
}

fn page(visit: &Visit<'_>, name: &Entered, import: &Entered) -> HandlerResult {
    let line = Field::new("name", "Name", Input::Line);
    let line = line.required().help("1 to 200 characters without spaces, colons, commas and =.");
    let rename = Form { action: Some("account/name"), ..Form::new("Rename", vec![line]) };
    let file = Field::new(FILE, "File", Input::File("application/json,.json".to_owned()));
    let most = IMPORT_BYTES_MAX >> 20;
    let help = format!("An exported JSON file, at most {most} MiB. It adds to what you have.");
    let file = file.required().help(help);
    let from_file = Form { action: Some("account/import"), ..Form::new("Import", vec![file]) };
    let content = html! {
        h2 { "Name" }
        (name.form(&visit.api.site, &rename))
        h2 { "Export" }
        p { "Download all prompts and vaults as one JSON file. Pictures are linked, not included." }
        p { a .button href=(visit.at("account/export")) download { "Export" } }
        h2 { "Import" }
        (import.form(&visit.api.site, &from_file))
        h2 { "Delete" }
        p { "Deletes the account with all its prompts, vaults, jobs, keys and sessions." }
        (visit.ask("Delete the account", DELETE, "account/delete", &html! {
            label for="confirm" { "Account name" }
            input #confirm name="name" required autocomplete="off";
            " " button .danger { "Delete everything" }
        }))
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
    let sent = receive(&mut visit, IMPORT_BYTES_MAX, None).await;
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
    if visit.entered.value("name") != &*visit.session.account_name {
        let text = "is not the name of the account; nothing was deleted";
        return Err(FieldErrors::of("name", text).into());
    }
    visit.store().delete_account(&visit.caller).await?;
    let site = &visit.api.site;
    redirect(site, SIGN_IN.trim_start_matches('/'), Some(site.set_cookies(None)?))
}
