//! `/metrics`, on a listener of its own that clients need not reach.

use std::sync::Arc;

use http::{HeaderValue, Method, Request};
use hyper::body::Incoming;
use tokio::net::TcpListener;
use tokio::time::{MissedTickBehavior, interval};

use crate::api::health::Readiness;
use crate::http::error::ApiError;
use crate::http::path::{RequestTarget, RouteError};
use crate::http::response::{self, Response};
use crate::limits::{ADMIN_CONNECTIONS_MAX, METRICS_UPKEEP_INTERVAL};
use crate::serve::listener::{HttpService, Limits, serve};
use crate::serve::service::ApiService;

#[derive(Clone)]
struct Admin(Arc<ApiService>);

/// Serves the metrics of `service` until it is cancelled.
pub(crate) async fn serve_metrics(listener: TcpListener, service: Arc<ApiService>) {
    let limits = Limits { connections_max: ADMIN_CONNECTIONS_MAX, ..Limits::default() };
    let admin = Admin(service.clone());
    let serving =
        serve(listener, admin, limits, Readiness::default(), std::future::pending::<()>());
    let upkeep = async {
        let mut ticks = interval(METRICS_UPKEEP_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if let Some(metrics) = &service.metrics {
                metrics.run_upkeep();
            }
        }
    };
    tokio::join!(serving, upkeep);
}

impl HttpService for Admin {
    async fn handle(&self, request: Request<Incoming>) -> Response {
        let error = match (request.uri().path(), request.method(), &self.0.metrics) {
            ("/metrics", &Method::GET, Some(metrics)) => {
                return response::metrics(metrics.render());
            }
            ("/metrics", _, Some(_)) => {
                RouteError::WrongMethod { allow: HeaderValue::from_static("GET") }
            }
            _ => RouteError::UnknownPath,
        };
        response::failure(&ApiError::from(error), RequestTarget::UNKNOWN)
    }
}
