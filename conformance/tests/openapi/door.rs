//! Stands between the sockets and the service: every answer is looked at on its way
//! out, whoever asked.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::stream;
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use promptarium_server::http::host;
use promptarium_server::http::response::{Payload, Reply};
use promptarium_server::serve::listener;
use promptarium_server::serve::service::App;

use crate::description::{Description, Status};

/// What was seen since somebody looked last.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<(Vec<Status>, Vec<String>)>>);

/// The service, watched.
#[derive(Clone)]
pub(crate) struct Door {
    pub(crate) app: Arc<App>,
    pub(crate) description: Arc<Description>,
    pub(crate) log: Log,
}

impl Log {
    /// What was seen, and what of it was other than described.
    pub(crate) fn take(&self) -> (Vec<Status>, Vec<String>) {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, seen: Vec<Status>, violations: Vec<String>) {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.0.extend(seen);
        log.1.extend(violations);
    }
}

impl listener::Answer for Door {
    async fn answer(&self, request: Request<Incoming>) -> Reply {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let (head, incoming) = request.into_parts();
        let for_nobody = host::check(&head).is_err();
        let request = Request::from_parts(head, incoming);
        let (parts, payload) = self.app.handle(request).await.into_parts();
        let body = match payload.collect().await {
            Ok(body) => body.to_bytes(),
            // What broke off goes on breaking off.
            Err(error) => {
                let broken = stream::iter([Err::<Bytes, _>(error)]);
                return Reply::from_parts(parts, Payload::streamed(broken));
            }
        };
        // What HTTP itself refuses reaches no operation, and none describes it.
        if for_nobody && parts.status == StatusCode::BAD_REQUEST {
            return Reply::from_parts(parts, Payload::whole(body));
        }
        let judged = self.description.judge(&method, &path, parts.status, &parts.headers, &body);
        let of = |violation| format!("  {method} {path}: {violation}");
        self.log.add(judged.seen, judged.violations.into_iter().map(of).collect());
        Reply::from_parts(parts, Payload::whole(body))
    }
}
