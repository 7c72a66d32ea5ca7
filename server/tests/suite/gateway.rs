//! Stands between the sockets and the service: every answer is looked at on its way
//! out, whoever asked.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::stream::{self, StreamExt, TryStreamExt};
use http::StatusCode;
use http::request::Parts;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Incoming;
use promptarium_server::test_support::{ApiService, HttpService, check_host};
use promptarium_server::test_support::{Response, ResponseBody, ResponseBodyError};

use crate::description::{Description, Status};
use crate::unseen;

/// Holds answers against the document, and keeps what was seen and what was other than described.
#[derive(Clone)]
pub(crate) struct Judge {
    pub(crate) description: Arc<Description>,
    log: Arc<Mutex<(BTreeSet<Status>, BTreeSet<String>)>>,
}

#[derive(Clone)]
pub(crate) struct Gateway {
    pub(crate) app: Arc<ApiService>,
    pub(crate) judge: Judge,
}

impl Judge {
    pub(crate) fn new(description: Arc<Description>) -> Self {
        Self { description, log: Arc::default() }
    }

    /// All that was other than described, and after a `whole` run what nobody has seen.
    pub(crate) fn verdict(&self, whole: bool) -> Vec<String> {
        let (seen, wrong) = &*self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let unseen = whole.then(|| unseen::differences(&self.description, seen));
        wrong.iter().cloned().chain(unseen.into_iter().flatten()).collect()
    }
}

impl HttpService for Gateway {
    async fn handle(&self, parts: &Parts, body: &mut Incoming, peer: IpAddr) -> Response {
        let (method, path) = (&parts.method, parts.uri.path());
        let answer = self.app.handle(parts, body, peer).await;
        // The document describes no pages.
        if path == "/sign-in" {
            return answer;
        }
        let for_nobody = check_host(parts).is_err();
        let (parts, payload) = answer.into_parts();
        // A file comes piece by piece: the next one once the one before it is dropped.
        let pieces = payload.into_data_stream();
        let body = pieces.try_fold(Vec::new(), async |all, piece| Ok([all, piece.into()].concat()));
        let body = match body.await {
            Ok(body) => Bytes::from(body),
            // What broke off goes on breaking off.
            Err(_) => {
                let broken = stream::iter([Err(ResponseBodyError)]).boxed();
                return Response::from_parts(parts, ResponseBody::Right(StreamBody::new(broken)));
            }
        };
        // What HTTP itself refuses reaches no operation, and none describes it.
        if for_nobody && parts.status == StatusCode::BAD_REQUEST {
            return Response::from_parts(parts, ResponseBody::Left(body.into()));
        }
        let (seen, violations) =
            self.judge.description.judge(method, path, parts.status, &parts.headers, &body);
        let of = |violation| format!("{method} {path}: {violation}");
        let mut log = self.judge.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.0.extend(seen);
        log.1.extend(violations.into_iter().map(of));
        Response::from_parts(parts, ResponseBody::Left(body.into()))
    }
}
