//! The route table of the API, and the lookup of a request's route. A new endpoint is a new row.

use std::collections::BTreeMap;

use http::Method;
use matchit::Router;
use promptarium::path;

use crate::api::{
    Handler, Route, files, generations, health, keys, openapi, prompts, readiness, vaults,
};
use crate::blobs::urls::{ASSETS, STORAGE};
use crate::domain::BASE_PATH;
use crate::http::auth::Access;
use crate::http::error::ApiError;
use crate::http::path::PathParams;

/// The endpoints of the API.
#[rustfmt::skip]
pub fn table() -> Vec<Route> {
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

        api("listVaultPrompts", M::GET, path::VAULT_PROMPTS, Key, authed!(vaults::contents)),
        api("addVaultPrompts", M::POST, path::VAULT_PROMPTS, Write, authed!(vaults::add)),
        api("removeVaultPrompt", M::DELETE, path::VAULT_PROMPT, Write, authed!(vaults::remove)),
        api("moveVaultPrompt", M::POST, path::VAULT_PROMPT_MOVE, Write, authed!(vaults::move_prompt)),
        api("pinVaultPrompt", M::POST, path::VAULT_PROMPT_PIN, Write, authed!(vaults::set_pinned)),
        api("unpinVaultPrompt", M::DELETE, path::VAULT_PROMPT_PIN, Write, authed!(vaults::set_pinned)),

        api("createGeneration", M::POST, path::GENERATIONS, Write, authed!(generations::create)),
        api("generationStatus", M::GET, path::GENERATION_STATUS, Key, authed!(generations::status)),

        api("createUploadSlot", M::POST, path::UPLOADS_IMAGES, Write, authed!(files::slot)),

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

const ALL_METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

/// The table, ready for lookup: the routes of each path.
pub struct Routes(Router<Vec<Route>>);

impl Routes {
    /// Prepares a table for lookup. Of rows of one path and method the first counts.
    pub fn new(table: Vec<Route>) -> Result<Self, matchit::InsertError> {
        let mut paths = BTreeMap::<String, Vec<Route>>::new();
        for route in table {
            let same_path = paths.entry(route.template()).or_default();
            if same_path.iter().all(|other| other.method != route.method) {
                same_path.push(route);
            }
        }
        let mut router = Router::new();
        paths.into_iter().try_for_each(|(path, routes)| router.insert(path, routes))?;
        Ok(Self(router))
    }

    /// The route of a request, and the parameters in the path. No route takes `OPTIONS`; the path
    /// `*` stands for the whole server.
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
pub(crate) mod tests {
    use super::*;

    pub(crate) fn assert_each_row_is_found_and_other_methods_are_told_which_there_are(
        table: &[Route],
    ) {
        let routes = Routes::new(table.to_vec()).unwrap();
        for row in table {
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

    #[test]
    fn every_endpoint_is_found_at_its_path() {
        assert_each_row_is_found_and_other_methods_are_told_which_there_are(&table());
    }
}
