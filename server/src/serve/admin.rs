//! `/metrics`, on a listener of its own that clients need not reach.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, Method, Request};
use hyper::body::Incoming;
use tokio::net::TcpListener;
use tokio::time::{MissedTickBehavior, interval};

use crate::http::error::ApiError;
use crate::http::path::{Asked, RouteRefusal};
use crate::http::readiness::Readiness;
use crate::http::response::{self, Reply};
use crate::limits;
use crate::serve::listener::{Answer, Limits, serve};
use crate::serve::metrics::Metrics;
use crate::serve::service::App;

/// How often durations are put into their buckets, whether anybody looks or not.
const TIDY_INTERVAL: Duration = Duration::from_secs(5);

/// Shows the metrics of one service.
#[derive(Clone)]
struct Admin(Arc<App>);

/// Serves the metrics of `app` for ever.
pub async fn serve_metrics(listener: TcpListener, app: Arc<App>) {
    let limits = Limits { connections_max: limits::ADMIN_CONNECTIONS_MAX, ..Limits::default() };
    let admin = Admin(app.clone());
    let serving =
        serve(listener, admin, limits, Readiness::default(), std::future::pending::<()>());
    let tidying = async {
        let mut ticks = interval(TIDY_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if let Some(metrics) = &app.metrics {
                metrics.tidy();
            }
        }
    };
    tokio::join!(serving, tidying);
}

impl Answer for Admin {
    async fn answer(&self, request: Request<Incoming>) -> Reply {
        match page(&request, self.0.metrics.as_ref()) {
            Ok(page) => response::plain_text(page),
            Err(refusal) => response::failure(&ApiError::from(refusal), Asked::NOTHING),
        }
    }
}

fn page(request: &Request<Incoming>, metrics: Option<&Metrics>) -> Result<String, RouteRefusal> {
    match (request.uri().path(), request.method(), metrics) {
        ("/metrics", &Method::GET, Some(metrics)) => Ok(metrics.page()),
        ("/metrics", _, Some(_)) => {
            Err(RouteRefusal::WrongMethod { allow: HeaderValue::from_static("GET") })
        }
        _ => Err(RouteRefusal::UnknownPath),
    }
}
