//! The table of routes: every address of the service, what a request must bring,
//! and who answers. A new endpoint is a new row.

use std::future::ready;

use http::Method;
use promptarium::path;

use crate::api::{assets, contents, generations, health, keys, openapi, prompts, uploads, vaults};
use crate::blobs::asset_url::{ASSETS, STORAGE};
use crate::domain::BASE_PATH;
use crate::http::auth::Needs;
use crate::serve::routes::{Handler, Route};

macro_rules! api {
    ($($name:literal $method:ident $path:ident $needs:ident $handler:path;)*) => {
        [$(Route {
            name: $name,
            method: Method::$method,
            path: path::$path,
            base: BASE_PATH,
            needs: Needs::$needs,
            handler: Handler::ForCaller(|api, call| Box::pin($handler(api, call))),
        }),*]
    };
}

/// Every route of the service.
pub fn table() -> Vec<Route> {
    let api = api! {
        "listPrompts"       GET    PROMPTS           Key      prompts::list;
        "createPrompt"      POST   PROMPTS           Write    prompts::create;
        "getPrompt"         GET    PROMPT            Key      prompts::get;
        "updatePrompt"      PATCH  PROMPT            Write    prompts::update;
        "deletePrompt"      DELETE PROMPT            Write    prompts::delete;
        "savePrompt"        POST   PROMPT_SAVE       Write    prompts::save;

        "listVaults"        GET    VAULTS            Key      vaults::list;
        "createVault"       POST   VAULTS            Write    vaults::create;
        "getVault"          GET    VAULT             Key      vaults::get;
        "updateVault"       PATCH  VAULT             Write    vaults::update;
        "deleteVault"       DELETE VAULT             Write    vaults::delete;
        "forkVault"         POST   VAULT_FORK        Write    vaults::fork;

        "listVaultPrompts"  GET    VAULT_PROMPTS     Key      contents::list;
        "addVaultPrompts"   POST   VAULT_PROMPTS     Write    contents::add;
        "removeVaultPrompt" DELETE VAULT_PROMPT      Write    contents::remove;
        "moveVaultPrompt"   POST   VAULT_PROMPT_MOVE Write    contents::relocate;
        "pinVaultPrompt"    POST   VAULT_PROMPT_PIN  Write    contents::pin;
        "unpinVaultPrompt"  DELETE VAULT_PROMPT_PIN  Write    contents::unpin;

        "createGeneration"  POST   GENERATIONS       Write    generations::create;
        "generationStatus"  GET    GENERATION_STATUS Key      generations::status;

        "createUploadSlot"  POST   UPLOADS_IMAGES    Write    uploads::create;

        "createApiKey"      POST   API_KEYS          Session  keys::create;
    };
    let asset = Handler::ForVisitor(|api, visit| Box::pin(assets::get(api, visit)));
    let upload = Handler::ForVisitor(|api, visit| Box::pin(uploads::put(api, visit)));
    let document = Handler::ForVisitor(|api, visit| Box::pin(ready(openapi::get(api, &visit))));
    let root = [
        open("openapi", openapi::PATH, document),
        at_root("getAsset", Method::GET, ASSETS, Needs::Nothing, asset),
        at_root("headAsset", Method::HEAD, ASSETS, Needs::Nothing, asset),
        at_root("putUpload", Method::PUT, STORAGE, Needs::Slot, upload),
        open("health", "/healthz", Handler::Open(|api| Box::pin(ready(health::health(api))))),
        open("readiness", "/readyz", Handler::Open(|api| Box::pin(health::readiness(api)))),
    ];
    api.into_iter().chain(root).collect()
}

fn open(name: &'static str, path: &'static str, handler: Handler) -> Route {
    at_root(name, Method::GET, path, Needs::Nothing, handler)
}

fn at_root(
    name: &'static str,
    method: Method,
    path: &'static str,
    needs: Needs,
    handler: Handler,
) -> Route {
    Route { name, method, path, base: "", needs, handler }
}
