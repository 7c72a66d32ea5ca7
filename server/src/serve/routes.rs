//! The route table, which router, authentication, metrics and tests all read, and the lookup of
//! a request's route. A new endpoint is a new row.

use std::collections::BTreeMap;

use futures::future::BoxFuture;
use http::Method;
use matchit::Router;
use promptarium::path;

use crate::api::{
    Api, HandlerResult, Request, files, generations, health, keys, openapi, prompts, readiness,
    vaults,
};
#[cfg(feature = "dashboard")]
use crate::blobs::asset_url::THUMBNAILS;
use crate::blobs::asset_url::{ASSETS, STORAGE};
use crate::domain::{BASE_PATH, Caller, SessionRecord};
use crate::http::auth::Access;
use crate::http::error::ApiError;
use crate::http::path::PathParams;
use crate::web;

type HandlerFuture<'a> = BoxFuture<'a, HandlerResult>;

/// What answers the requests of a route.
#[derive(Clone, Copy, Debug)]
pub enum Handler {
    /// A handler that needs no key, or checks an upload token itself.
    Open(for<'a> fn(&'a Api, Request<'a>) -> HandlerFuture<'a>),
    /// A handler that needs a caller.
    Authed(for<'a> fn(&'a Api, &'a Caller, Request<'a>) -> HandlerFuture<'a>),
    /// As [`Handler::Open`], with failures as HTML. Pages are no part of the API document.
    Page(for<'a> fn(&'a Api, Request<'a>) -> HandlerFuture<'a>),
    /// A page that needs a session, and leads to the sign-in without one.
    Dashboard(for<'a> fn(&'a Api, &'a SessionRecord, Request<'a>) -> HandlerFuture<'a>),
}

/// One row of the table.
#[derive(Clone, Debug)]
pub struct Route {
    /// In metrics and in the API document.
    pub name: &'static str,
    /// `GET` answers `HEAD` too. With [`Access::UploadToken`] the handler gets all
    /// methods but `OPTIONS`.
    pub method: Method,
    /// A template, below [`Route::base`].
    pub path: &'static str,
    /// [`BASE_PATH`], or nothing for a path at the root.
    pub base: &'static str,
    pub access: Access,
    pub handler: Handler,
}

/// Every route of the service.
pub fn table() -> Vec<Route> {
    [endpoints(), pages()].concat()
}

#[rustfmt::skip]
fn endpoints() -> Vec<Route> {
    macro_rules! authed {
        ($handler:path) => { Handler::Authed(|api, caller, request| Box::pin($handler(api, caller, request))) };
    }
    macro_rules! open {
        ($handler:path) => { Handler::Open(|api, request| Box::pin($handler(api, request))) };
    }
    use Access::{Key, Session, UploadToken, Write};
    use Method as M;
    let api = |name, method, path, access, handler| Route { name, method, path, base: BASE_PATH, access, handler };
    let root = |name, method, path, access, handler| Route { name, method, path, base: "", access, handler };
    vec![
        api("listPrompts", M::GET, path::PROMPTS, Key, authed!(prompts::list)),
        api("createPrompt", M::POST, path::PROMPTS, Write, authed!(prompts::create)),
        api("getPrompt", M::GET, path::PROMPT, Key, authed!(prompts::get)),
        api("updatePrompt", M::PATCH, path::PROMPT, Write, authed!(prompts::update)),
        api("deletePrompt", M::DELETE, path::PROMPT, Write, authed!(prompts::delete)),
        api("savePrompt", M::POST, path::PROMPT_SAVE, Write, authed!(prompts::save)),

        api("listVaults", M::GET, path::VAULTS, Key, authed!(vaults::list)),
        api("createVault", M::POST, path::VAULTS, Write, authed!(vaults::create)),
        api("getVault", M::GET, path::VAULT, Key, authed!(vaults::get)),
        api("updateVault", M::PATCH, path::VAULT, Write, authed!(vaults::update)),
        api("deleteVault", M::DELETE, path::VAULT, Write, authed!(vaults::delete)),
        api("forkVault", M::POST, path::VAULT_FORK, Write, authed!(vaults::fork)),

        api("listVaultPrompts", M::GET, path::VAULT_PROMPTS, Key, authed!(vaults::list_prompts)),
        api("addVaultPrompts", M::POST, path::VAULT_PROMPTS, Write, authed!(vaults::add_prompts)),
        api("removeVaultPrompt", M::DELETE, path::VAULT_PROMPT, Write, authed!(vaults::remove_prompt)),
        api("moveVaultPrompt", M::POST, path::VAULT_PROMPT_MOVE, Write, authed!(vaults::move_prompt)),
        api("pinVaultPrompt", M::POST, path::VAULT_PROMPT_PIN, Write, authed!(vaults::set_pinned)),
        api("unpinVaultPrompt", M::DELETE, path::VAULT_PROMPT_PIN, Write, authed!(vaults::set_pinned)),

        api("createGeneration", M::POST, path::GENERATIONS, Write, authed!(generations::create)),
        api("generationStatus", M::GET, path::GENERATION_STATUS, Key, authed!(generations::status)),

        api("createUploadSlot", M::POST, path::UPLOADS_IMAGES, Write, authed!(files::create_slot)),

        api("listApiKeys", M::GET, path::API_KEYS, Session, authed!(keys::list)),
        api("createApiKey", M::POST, path::API_KEYS, Session, authed!(keys::create)),
        api("revokeApiKey", M::DELETE, path::API_KEY, Session, authed!(keys::revoke)),

        root("openapi", M::GET, openapi::PATH, Access::None, open!(openapi::get)),
        root("getAsset", M::GET, ASSETS, Access::None, open!(files::asset)),
        root("headAsset", M::HEAD, ASSETS, Access::None, open!(files::asset)),
        root("putUpload", M::PUT, STORAGE, UploadToken, open!(files::upload)),
        root("health", M::GET, "/healthz", Access::None, open!(health)),
        root("readiness", M::GET, "/readyz", Access::None, open!(readiness)),
    ]
}

#[cfg(not(feature = "dashboard"))]
fn pages() -> Vec<Route> {
    Vec::new()
}

#[cfg(feature = "dashboard")]
#[rustfmt::skip]
fn pages() -> Vec<Route> {
    macro_rules! page {
        ($handler:path) => { Handler::Page(|api, request| Box::pin($handler(api, request))) };
    }
    macro_rules! dashboard {
        ($handler:path) => { Handler::Dashboard(|api, session, request| Box::pin(async move { $handler(web::Visit::new(api, session, request).await?).await })) };
    }
    use Access::Session;
    use Method as M;
    let root = |name, method, path, access, handler| Route { name, method, path, base: "", access, handler };
    vec![
        root("signInForm", M::GET, web::sessions::SIGN_IN, Access::None, page!(web::sessions::sign_in_form)),
        root("signIn", M::POST, web::sessions::SIGN_IN, Access::None, page!(web::sessions::sign_in)),
        root("signOut", M::POST, web::sessions::SIGN_OUT, Access::None, page!(web::sessions::sign_out)),

        root("getThumbnail", M::GET, THUMBNAILS, Access::None, page!(files::thumbnail)),

        root("homePage", M::GET, "/", Session, dashboard!(web::home::show)),
        root("promptsPage", M::GET, "/prompts", Session, dashboard!(web::prompts::list)),
        root("newPromptPage", M::GET, "/prompts/new", Session, dashboard!(web::prompt::write)),
        root("newPrompt", M::POST, "/prompts/new", Session, dashboard!(web::prompt::write)),
        root("chosenPrompts", M::POST, "/prompts/chosen", Session, dashboard!(web::chosen::apply)),
        root("promptPage", M::GET, "/prompts/{promptId}", Session, dashboard!(web::prompt::show)),
        root("editPromptPage", M::GET, "/prompts/{promptId}/edit", Session, dashboard!(web::prompt::write)),
        root("editPrompt", M::POST, "/prompts/{promptId}/edit", Session, dashboard!(web::prompt::write)),
        root("generatePage", M::GET, "/generate", Session, dashboard!(web::generate::show)),
        root("generate", M::POST, "/generate", Session, dashboard!(web::generate::show)),
        root("vaultsPage", M::GET, "/vaults", Session, dashboard!(web::vaults::list)),
        root("newVaultPage", M::GET, "/vaults/new", Session, dashboard!(web::vaults::write)),
        root("newVault", M::POST, "/vaults/new", Session, dashboard!(web::vaults::write)),
        root("vaultPage", M::GET, "/vaults/{vaultId}", Session, dashboard!(web::vaults::show)),
        root("editVaultPage", M::GET, "/vaults/{vaultId}/edit", Session, dashboard!(web::vaults::write)),
        root("editVault", M::POST, "/vaults/{vaultId}/edit", Session, dashboard!(web::vaults::write)),
        root("deleteVaultForm", M::POST, "/vaults/{vaultId}/delete", Session, dashboard!(web::vaults::delete)),
        root("forkVaultForm", M::POST, "/vaults/{vaultId}/fork", Session, dashboard!(web::public::fork)),
        root("sharedVaultPage", M::GET, "/v/{account}/{slug}", Access::None, page!(web::public::show)),
        root("jobsPage", M::GET, "/jobs", Session, dashboard!(web::jobs::list)),
        root("jobPage", M::GET, "/jobs/{clientJobId}", Session, dashboard!(web::jobs::show)),
        root("retryJob", M::POST, "/jobs/{clientJobId}/retry", Session, dashboard!(web::generate::show)),
        root("keysPage", M::GET, "/keys", Session, dashboard!(web::keys::list)),
        root("newKey", M::POST, "/keys", Session, dashboard!(web::keys::create)),
        root("revokeKey", M::POST, "/keys/{publicId}/revoke", Session, dashboard!(web::keys::revoke)),
        root("sessionsPage", M::GET, "/sessions", Session, dashboard!(web::sessions::list)),
        root("endOtherSessions", M::POST, "/sessions/end-others", Session, dashboard!(web::sessions::end)),
        root("accountPage", M::GET, "/account", Session, dashboard!(web::account::show)),
        root("renameAccount", M::POST, "/account/name", Session, dashboard!(web::account::rename)),
        root("exportAccount", M::GET, "/account/export", Session, dashboard!(web::account::export)),
        root("importAccount", M::POST, "/account/import", Session, dashboard!(web::account::import)),
        root("deleteAccount", M::POST, "/account/delete", Session, dashboard!(web::account::delete)),
        root("endSession", M::POST, "/sessions/{sessionId}/end", Session, dashboard!(web::sessions::end)),
    ]
}

const ALL_METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

/// The table, ready for lookup: the routes of each path.
pub struct Routes(Router<Vec<Route>>);

impl Route {
    #[cfg(test)]
    pub(crate) const fn is_page(&self) -> bool {
        matches!(self.handler, Handler::Page(_) | Handler::Dashboard(_))
    }

    pub fn template(&self) -> String {
        format!("{}{}", self.base, self.path)
    }
}

impl Routes {
    /// Prepares a table for lookup.
    pub fn new(table: Vec<Route>) -> Result<Self, matchit::InsertError> {
        let mut paths = BTreeMap::<String, Vec<Route>>::new();
        for route in table {
            paths.entry(route.template()).or_default().push(route);
        }
        let mut router = Router::new();
        paths.into_iter().try_for_each(|(path, routes)| router.insert(path, routes))?;
        Ok(Self(router))
    }

    /// The route of a request, by method and path, and the parameters in the path. No route takes
    /// `OPTIONS`; the path `*` stands for the whole server.
    pub fn find<'a>(
        &'a self,
        method: &Method,
        path: &'a str,
    ) -> Result<(&'a Route, PathParams<'a>), ApiError> {
        let found = self.0.at(path).map_err(|_| match (method, path) {
            (&Method::OPTIONS, "*") => ApiError::WrongMethod(ALL_METHODS.to_owned()),
            _ => ApiError::UnknownPath,
        })?;
        let takes_all =
            |route: &Route| route.access == Access::UploadToken && *method != Method::OPTIONS;
        let of = |method: &Method| {
            found.value.iter().find(|route| route.method == *method || takes_all(route))
        };
        let get = || of(&Method::GET).filter(|_| *method == Method::HEAD);
        let route = of(method).or_else(get);
        let route = route.ok_or_else(|| ApiError::WrongMethod(allow(found.value)))?;
        Ok((route, PathParams::new(found.params.iter().map(|(_, value)| value))))
    }
}

/// `GET` stands for `HEAD` too.
fn allow(routes: &[Route]) -> String {
    let own = routes.iter().filter(|route| route.method != Method::HEAD);
    let methods = own.map(|Route { method, .. }| match *method {
        Method::GET => "GET, HEAD",
        _ => method.as_str(),
    });
    methods.chain(["OPTIONS"]).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_found_at_its_path_and_other_methods_are_told_which_there_are() {
        let routes = Routes::new(table()).unwrap();
        for row in table() {
            let path = row.template().replace(['{', '}'], "-");
            assert_eq!(routes.find(&row.method, &path).unwrap().0.name, row.name, "{path}");
            match routes.find(&Method::TRACE, &path) {
                Ok((other, _)) => assert_eq!(other.access, Access::UploadToken, "{path}"),
                Err(ApiError::WrongMethod(allow)) => {
                    let is_named = allow.split(", ").any(|method| method == row.method);
                    assert!(is_named && allow.ends_with(", OPTIONS"), "{path}: {allow}");
                    let head = routes.find(&Method::HEAD, &path);
                    assert_eq!(head.is_ok(), routes.find(&Method::GET, &path).is_ok(), "{path}");
                }
                Err(error) => panic!("{path}: {error}"),
            }
        }
    }
}
