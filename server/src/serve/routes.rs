//! The route table, which router, authentication, metrics and tests all read, and the lookup of
//! a request's route. A new endpoint is a new row.

use std::collections::BTreeMap;

use futures::future::BoxFuture;
use http::{HeaderValue, Method};
use matchit::Router;
use promptarium::path;

use crate::api::{
    Api, HandlerResult, Request, assets, generations, health, memberships, openapi, prompts,
    uploads, vaults,
};
use crate::blobs::asset_url::{ASSETS, STORAGE};
use crate::domain::{BASE_PATH, Caller};
use crate::http::auth::Access;
use crate::http::error::ApiError;
use crate::http::path::{PathParams, RequestTarget};

type HandlerFuture<'a> = BoxFuture<'a, HandlerResult>;

/// What answers the requests of a route.
#[derive(Clone, Copy, Debug)]
pub enum Handler {
    /// A handler that needs no key, or checks an upload token itself.
    Open(for<'a> fn(&'a Api, Request<'a>) -> HandlerFuture<'a>),
    Authed(for<'a> fn(&'a Api, &'a Caller, Request<'a>) -> HandlerFuture<'a>),
    /// A browser session, which does not exist yet.
    Session,
}

/// One row of the table.
#[derive(Clone, Debug)]
pub struct Route {
    /// Its name in metrics and in the API document.
    pub name: &'static str,
    /// Its method. With [`Access::UploadToken`] the handler gets all other methods too.
    pub method: Method,
    /// Its path as a template, below [`Route::base`].
    pub path: &'static str,
    /// [`BASE_PATH`], or nothing for a path at the root.
    pub base: &'static str,
    pub access: Access,
    pub handler: Handler,
    /// Whether a success involves no step of the store, so that the key is still to be checked
    /// for revocation.
    pub needs_key_recheck: bool,
}

/// Every route of the service.
#[rustfmt::skip]
pub fn table() -> Vec<Route> {
    macro_rules! authed {
        ($handler:path) => { Handler::Authed(|api, caller, request| Box::pin($handler(api, caller, request))) };
    }
    macro_rules! open {
        ($handler:path) => { Handler::Open(|api, request| Box::pin($handler(api, request))) };
    }
    use Access::{Key, UploadToken, Write};
    use Method as M;
    let api = |name, method, path, access, handler| {
        Route { name, method, path, base: BASE_PATH, access, handler, needs_key_recheck: false }
    };
    let root = |name, method, path, access, handler| {
        Route { base: "", ..api(name, method, path, access, handler) }
    };
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

        api("listVaultPrompts", M::GET, path::VAULT_PROMPTS, Key, authed!(memberships::list)),
        api("addVaultPrompts", M::POST, path::VAULT_PROMPTS, Write, authed!(memberships::add)),
        api("removeVaultPrompt", M::DELETE, path::VAULT_PROMPT, Write, authed!(memberships::remove)),
        api("moveVaultPrompt", M::POST, path::VAULT_PROMPT_MOVE, Write, authed!(memberships::move_to)),
        api("pinVaultPrompt", M::POST, path::VAULT_PROMPT_PIN, Write, authed!(memberships::pin)),
        api("unpinVaultPrompt", M::DELETE, path::VAULT_PROMPT_PIN, Write, authed!(memberships::unpin)),

        api("createGeneration", M::POST, path::GENERATIONS, Write, authed!(generations::create)),
        api("generationStatus", M::GET, path::GENERATION_STATUS, Key, authed!(generations::status)),

        Route {
            needs_key_recheck: true,
            ..api("createUploadSlot", M::POST, path::UPLOADS_IMAGES, Write, authed!(uploads::create))
        },
        api("createApiKey", M::POST, path::API_KEYS, Access::Session, Handler::Session),

        root("openapi", M::GET, openapi::PATH, Access::None, open!(openapi::get)),
        root("getAsset", M::GET, ASSETS, Access::None, open!(assets::get)),
        root("headAsset", M::HEAD, ASSETS, Access::None, open!(assets::get)),
        root("putUpload", M::PUT, STORAGE, UploadToken, open!(uploads::put)),
        root("health", M::GET, "/healthz", Access::None, open!(health::health)),
        root("readiness", M::GET, "/readyz", Access::None, open!(health::readiness)),
    ]
}

/// The route of a request.
#[derive(Clone, Copy, Debug)]
pub struct RouteMatch<'a> {
    /// Its row in the table.
    pub index: usize,
    pub route: &'a Route,
    pub params: PathParams<'a>,
}

/// The table, ready for lookup.
pub struct Routes {
    rows: Vec<Route>,
    router: Router<PathRoutes>,
}

/// The routes of one path.
struct PathRoutes {
    rows: Vec<usize>,
    allow: HeaderValue,
}

impl Route {
    pub fn template(&self) -> String {
        format!("{}{}", self.base, self.path)
    }

    /// What an error response says about its requests.
    pub(crate) fn target(&self) -> RequestTarget {
        let reads = matches!(self.method, Method::GET | Method::HEAD);
        RequestTarget::new(self.path, !reads)
    }
}

impl Routes {
    /// Prepares a table for lookup.
    pub fn new(rows: Vec<Route>) -> Result<Self, matchit::InsertError> {
        let mut paths = BTreeMap::<String, Vec<usize>>::new();
        for (index, row) in rows.iter().enumerate() {
            paths.entry(row.template()).or_default().push(index);
        }
        let mut router = Router::new();
        for (path, of_path) in paths {
            let allow = of_path.iter().map(|row| rows[*row].method.as_str()).collect::<Vec<_>>();
            let allow = HeaderValue::from_str(&allow.join(", "))
                .unwrap_or_else(|_| HeaderValue::from_static(""));
            router.insert(path, PathRoutes { rows: of_path, allow })?;
        }
        Ok(Self { rows, router })
    }

    /// All routes.
    #[cfg(any(test, feature = "test-support"))]
    pub fn rows(&self) -> &[Route] {
        &self.rows
    }

    /// The route of a request, by method and path.
    pub fn find<'a>(&'a self, method: &Method, path: &'a str) -> Result<RouteMatch<'a>, ApiError> {
        let found = self.router.at(path).map_err(|_| ApiError::UnknownPath)?;
        let rows = || found.value.rows.iter().copied();
        let index = rows()
            .find(|row| self.rows[*row].method == *method)
            .or_else(|| rows().find(|row| self.rows[*row].access == Access::UploadToken))
            .ok_or_else(|| ApiError::WrongMethod(found.value.allow.clone()))?;
        let params = PathParams::new(found.params.iter().map(|(_, value)| value));
        Ok(RouteMatch { index, route: &self.rows[index], params })
    }
}

#[cfg(test)]
mod tests {
    use promptarium::path;

    use super::*;

    fn routes() -> Routes {
        Routes::new(table()).unwrap()
    }

    #[test]
    fn every_row_is_found_at_its_path() {
        let routes = routes();
        for (index, row) in routes.rows().iter().enumerate() {
            let path = row.template().replace("{promptId}", "1").replace("{vaultId}", "2");
            let path = path.replace("{vaultPromptId}", "3").replace("{clientJobId}", "4");
            let path = path.replace("{name}", "5");
            assert_eq!(routes.find(&row.method, &path).unwrap().index, index, "{path}");
        }
    }

    #[test]
    fn every_route_but_get_needs_the_write_scope() {
        for row in table() {
            let expected = match (row.method, row.base) {
                (Method::PUT, "") => Access::UploadToken,
                (_, "") => Access::None,
                (Method::GET, _) => Access::Key,
                _ if row.path == path::API_KEYS => Access::Session,
                _ => Access::Write,
            };
            assert_eq!(row.access, expected, "{}", row.name);
        }
    }

    #[test]
    fn an_unknown_path_is_404_and_a_wrong_method_405() {
        let routes = routes();
        let find = |method, path| routes.find(&method, path).map(|found| found.route.name);
        let unknown = " / * /api/v1 /api/v1/ /api/v1/prompts/ /api/v1/prompts/1/ /api/v1//prompts \
                       /api/v2/prompts /prompts /api/v1/Prompts /api/v1/healthz /healthz/";
        for path in unknown.split(' ') {
            assert!(matches!(find(Method::GET, path), Err(ApiError::UnknownPath)), "{path}");
        }
        let allow = |method, path| match routes.find(&method, path) {
            Err(ApiError::WrongMethod(allow)) => allow.to_str().unwrap().to_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(allow(Method::PUT, "/api/v1/prompts"), "GET, POST");
        assert_eq!(allow(Method::HEAD, "/api/v1/prompts/x"), "GET, PATCH, DELETE");
        assert_eq!(allow(Method::OPTIONS, "/api/v1/vaults/1/prompts/2/pin"), "POST, DELETE");
        assert_eq!(allow(Method::GET, "/api/v1/api-keys"), "POST");
    }
}
