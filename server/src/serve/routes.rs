//! Finding the route of a request, by method and path only.
//!
//! The routes themselves stand in one [`table()`]; router, authentication, metrics
//! and the tests of paths all read it.

mod table;

use std::collections::BTreeMap;

use futures::future::BoxFuture;
use http::{HeaderValue, Method};
use matchit::Router;

pub use self::table::table;
use crate::api::{Api, Call, Visit};
use crate::http::auth::Needs;
use crate::http::error::ApiError;
use crate::http::path::{Addressed, Asked, PathParams, RouteRefusal};
use crate::http::response::Reply;

/// Who answers the requests of a route.
#[derive(Clone, Copy, Debug)]
pub enum Handler {
    /// Answers anybody, from what the server knows of itself.
    Open(for<'a> fn(&'a Api) -> BoxFuture<'a, Result<Reply, ApiError>>),
    /// Answers anybody, or sees for itself who may have an answer.
    ForVisitor(for<'a> fn(&'a Api, Visit<'a>) -> BoxFuture<'a, Result<Reply, ApiError>>),
    /// Answers a caller who has proved a key.
    ForCaller(for<'a> fn(&'a Api, Call<'a>) -> BoxFuture<'a, Result<Reply, ApiError>>),
}

/// One row of the table.
#[derive(Clone, Debug)]
pub struct Route {
    /// Its name in the log and in metrics.
    pub name: &'static str,
    /// The method it answers. Where it [`Needs::Slot`], its handler gets requests
    /// of all others too.
    pub method: Method,
    /// Its path as a template, below [`Route::base`].
    pub path: &'static str,
    /// [`BASE_PATH`](crate::domain::BASE_PATH), or nothing for a path at the root.
    pub base: &'static str,
    /// What a request must bring.
    pub needs: Needs,
    /// Who answers.
    pub handler: Handler,
}

/// Where a request goes.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// The place of its row in the table.
    pub at: usize,
    /// Its row.
    pub route: &'a Route,
    /// The parameters in its path.
    pub params: PathParams<'a>,
}

/// The table, ready to be searched.
pub struct Routes {
    rows: Vec<Route>,
    router: Router<AtPath>,
}

/// What stands at one path.
struct AtPath {
    rows: Vec<usize>,
    allow: HeaderValue,
}

impl Route {
    /// The whole path as a template.
    pub fn template(&self) -> String {
        format!("{}{}", self.base, self.path)
    }

    /// What its requests ask for.
    pub fn asked(&self) -> Asked {
        let reads = matches!(self.method, Method::GET | Method::HEAD);
        Asked { addressed: self.addressed(), writes: !reads }
    }

    /// What the parameters of its path name.
    pub fn addressed(&self) -> Addressed {
        Addressed::by(self.path)
    }
}

impl Routes {
    /// Prepares a table.
    ///
    /// # Errors
    /// If two templates clash.
    pub fn new(rows: Vec<Route>) -> Result<Self, matchit::InsertError> {
        let mut paths = BTreeMap::<String, Vec<usize>>::new();
        for (at, row) in rows.iter().enumerate() {
            paths.entry(row.template()).or_default().push(at);
        }
        let mut router = Router::new();
        for (path, at_path) in paths {
            let allow = at_path.iter().map(|at| rows[*at].method.as_str()).collect::<Vec<_>>();
            let allow = HeaderValue::from_str(&allow.join(", "))
                .unwrap_or_else(|_| HeaderValue::from_static(""));
            router.insert(path, AtPath { rows: at_path, allow })?;
        }
        Ok(Self { rows, router })
    }

    /// The table itself.
    pub fn rows(&self) -> &[Route] {
        &self.rows
    }

    /// The route of a request.
    ///
    /// # Errors
    /// If there is none.
    pub fn find<'a>(&'a self, method: &Method, path: &'a str) -> Result<Found<'a>, RouteRefusal> {
        let found = self.router.at(path).map_err(|_| RouteRefusal::UnknownPath)?;
        let rows = || found.value.rows.iter().copied();
        let at = rows()
            .find(|at| self.rows[*at].method == *method)
            .or_else(|| rows().find(|at| self.rows[*at].needs == Needs::Slot))
            .ok_or_else(|| RouteRefusal::WrongMethod { allow: found.value.allow.clone() })?;
        let params = found.params.iter().map(|(_, value)| value).collect();
        Ok(Found { at, route: &self.rows[at], params })
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
    fn every_row_is_found_at_its_own_path() {
        let routes = routes();
        for (at, row) in routes.rows().iter().enumerate() {
            let path = row.template().replace("{promptId}", "1").replace("{vaultId}", "2");
            let path = path.replace("{vaultPromptId}", "3").replace("{clientJobId}", "4");
            let path = path.replace("{name}", "5");
            assert_eq!(routes.find(&row.method, &path).unwrap().at, at, "{path}");
        }
    }

    #[test]
    fn names_are_given_once() {
        let mut names = table().iter().map(|row| row.name).collect::<Vec<_>>();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), table().len());
    }

    #[test]
    fn everything_that_is_not_a_get_needs_to_write() {
        for row in table() {
            let expected = match (row.method, row.base) {
                (Method::PUT, "") => Needs::Slot,
                (_, "") => Needs::Nothing,
                (Method::GET, _) => Needs::Key,
                _ if row.path == path::API_KEYS => Needs::Session,
                _ => Needs::Write,
            };
            assert_eq!(row.needs, expected, "{}", row.name);
        }
    }

    #[test]
    fn an_unknown_path_and_a_wrong_method_are_told_apart() {
        let routes = routes();
        let find = |method, path| routes.find(&method, path).map(|found| found.route.name);
        for path in [
            "",
            "/",
            "*",
            "/api/v1",
            "/api/v1/",
            "/api/v1/prompts/",
            "/api/v1/prompts/1/",
            "/api/v1//prompts",
            "/api/v2/prompts",
            "/prompts",
            "/api/v1/Prompts",
            "/api/v1/healthz",
            "/healthz/",
        ] {
            assert_eq!(find(Method::GET, path), Err(RouteRefusal::UnknownPath), "{path}");
        }
        let allow = |method, path| match routes.find(&method, path) {
            Err(RouteRefusal::WrongMethod { allow }) => allow.to_str().unwrap().to_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(allow(Method::PUT, "/api/v1/prompts"), "GET, POST");
        assert_eq!(allow(Method::HEAD, "/api/v1/prompts/x"), "GET, PATCH, DELETE");
        assert_eq!(allow(Method::OPTIONS, "/api/v1/vaults/1/prompts/2/pin"), "POST, DELETE");
        assert_eq!(allow(Method::GET, "/api/v1/api-keys"), "POST");
    }
}
