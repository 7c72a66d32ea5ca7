//! The account itself: its name, an export and an import of its data, and its deletion.

use std::io::{Read, Seek};

use futures::TryStreamExt;
use http::header::CONTENT_DISPOSITION;
use http::{HeaderValue, StatusCode};
use maud::html;
use url::form_urlencoded;

use super::SIGN_IN;
use super::forms::{Entered, Field, Input, confirm_page};
use super::layout::{Page, done, redirect};
use super::parts::typed;
use super::uploads::{Sent, receive};
use crate::api::export::export as document_of;
use crate::api::import::{ImportError, import as add_document};
use crate::api::{Api, HandlerResult, Request};
use crate::domain::{SessionRecord, account_name};
use crate::http::error::ApiError;
use crate::http::response;
use crate::http::validate::{FieldErrors, form_fields, text};
use crate::limits::IMPORT_BYTES_MAX;

const FIELDS: &[&str] = &["name"];

/// `GET /account`.
pub(crate) async fn show(
    api: &Api,
    session: &SessionRecord,
    request: Request<'_>,
) -> HandlerResult {
    page(api, session, &request, &Entered::new(&[("name", &session.account_name)]))
}

fn page(
    api: &Api,
    session: &SessionRecord,
    request: &Request<'_>,
    entered: &Entered<'_>,
) -> HandlerResult {
    let name = Field::new("name", "Name", Input::Line)
        .help(
            "1 to 200 characters without spaces, : , and =. It is in the addresses of your \
               public vaults.",
        )
        .required();
    let labels = [name.label(), ("file", "File")];
    let content = html! {
        (entered.summary(&labels))
        h2 { "Name" }
        form .fields method="post" action=(api.site.page("account/name")) {
            (entered.field(&name))
            div .buttons { button .main { "Rename" } }
        }
        h2 { "Export" }
        p {
            "All prompts and vaults as one JSON file, with references to pictures. The pictures "
            "themselves stay on this server."
        }
        p { a .button href=(api.site.page("account/export")) download { "Download an export" } }
        h2 { "Import" }
        form .fields method="post" enctype="multipart/form-data"
            action=(api.site.page("account/import")) {
            div .field.wide {
                label for="file" { "File" }
                input #file name="file" type="file" accept="application/json,.json" required
                    aria-describedby="import-help";
                p #import-help .soft {
                    "An export of this or another account, at most " (IMPORT_BYTES_MAX >> 20)
                    " MiB. Its prompts and vaults are added to yours, all of them or none."
                }
            }
            div .buttons { button { "Import" } }
        }
        h2 { "Delete" }
        p { "This deletes all prompts, vaults, jobs, keys and sessions of the account." }
        p { a .button.danger href=(api.site.page("account/delete")) { "Delete the account" } }
    };
    let page = Page::of(&api.site, session, "account", "Account").after(request.parts);
    Ok(page.response(entered.status(), &content))
}

/// `POST /account/name`.
pub(crate) async fn rename(
    api: &Api,
    session: &SessionRecord,
    mut request: Request<'_>,
) -> HandlerResult {
    let body = request.form().await?;
    let renamed = async {
        let mut form = form_fields(&body, FIELDS);
        let name = form.required("name", |field| {
            account_name(&text(1..=200)(field)?).map_err(ToOwned::to_owned)
        });
        let name = form.finish_with(name)?;
        Ok::<_, ApiError>(api.store.rename_account(&session.caller(), &name).await?)
    };
    match renamed.await {
        Ok(()) => done(&api.site, "account", "account-renamed"),
        Err(error) => {
            let entered = Entered::refused(&body, error, request.parts)?;
            page(api, session, &request, &entered)
        }
    }
}

/// `GET /account/export`.
pub(crate) async fn export(api: &Api, session: &SessionRecord, _: Request<'_>) -> HandlerResult {
    let (store, now) = (api.store.clone(), api.clock.now());
    let document = document_of(store, session.caller(), &session.account_name, now).await?;
    let body = response::stream(document.map_err(ApiError::from));
    let mut response = response::with_type(StatusCode::OK, "application/json", body);
    let file = HeaderValue::from_static("attachment; filename=\"promptarium-export.json\"");
    response.headers_mut().insert(CONTENT_DISPOSITION, file);
    Ok(response)
}

/// `POST /account/import`.
pub(crate) async fn import(
    api: &Api,
    session: &SessionRecord,
    mut request: Request<'_>,
) -> HandlerResult {
    let refused = |text: String| ApiError::from(FieldErrors::of("file", text));
    let imported = async {
        let Sent { file, size, memory: _buffer, .. } =
            receive(api, &mut request, IMPORT_BYTES_MAX).await?;
        let mut file = file.ok_or_else(|| refused("is required".to_owned()))?;
        // The document, and what is read from it.
        let _memory = request.memory.reserve(2 * size)?;
        let document = file
            .read(|file| {
                let mut document = Vec::new();
                file.rewind()?;
                file.read_to_end(&mut document)?;
                Ok(document)
            })
            .await?;
        let imported = add_document(&*api.store, &session.caller(), &document).await;
        imported.map_err(|error| match error {
            ImportError::Document(problem) => refused(format!("cannot be imported: {problem}")),
            ImportError::Store(error) => error.into(),
        })
    };
    let outcome = imported.await;
    match outcome {
        Ok(_) => done(&api.site, "account", "imported"),
        Err(error) => {
            let name = form_urlencoded::Serializer::new(String::new())
                .append_pair("name", &session.account_name)
                .finish();
            let entered = Entered::refused(name.as_bytes(), error, request.parts)?;
            page(api, session, &request, &entered)
        }
    }
}

/// `GET /account/delete`.
pub(crate) async fn confirm(api: &Api, session: &SessionRecord, _: Request<'_>) -> HandlerResult {
    let question = html! {
        "Delete the account " strong { (typed(&session.account_name, 200)) } " with all its prompts, "
        "vaults, jobs, keys and sessions? This cannot be undone. To confirm, type its name."
    };
    let fields = html! {
        div .field {
            label for="name" { "Name of the account" }
            input #name name="name" dir="auto" autocomplete="off" spellcheck="false" required;
        }
    };
    let page = Page::of(&api.site, session, "account", "Delete the account");
    confirm_page(&page, &question, ("account/delete", &fields, "Delete everything"), "account")
}

/// `POST /account/delete`.
pub(crate) async fn delete(
    api: &Api,
    session: &SessionRecord,
    mut request: Request<'_>,
) -> HandlerResult {
    let body = request.form().await?;
    if Entered::parse(&body).value("name") != &*session.account_name {
        let text = "this is not the name of the account; nothing was deleted";
        return Err(FieldErrors::of("body", format!("is refused: {text}")).into());
    }
    api.store.delete_account(&session.caller()).await?;
    let page = SIGN_IN.trim_start_matches('/');
    redirect(&api.site, page, Some(api.site.set_cookies(None)?))
}
