//! The one place that sends to the service, and sends again. Which failures allow
//! that is the table of [`retry`](super::retry); what goes elsewhere, without the
//! key, is below.

mod attempt;
mod get;
mod limit;
mod put;

use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use url::Url;

use self::attempt::Sending;
use super::config::Config;
use super::options::CallOptions;
use super::reply::{Reply, repeats, request_id};
use super::request::Request;
use super::retry::{Attempts, Fate};
use super::trace::Span;
use super::transport::OutgoingBody;
use super::{Client, Error};

impl Client {
    /// Sends a request until it has an answer that stands, and collects that,
    /// whatever its status.
    pub(super) async fn send(
        &self,
        request: Request,
        options: &CallOptions,
    ) -> Result<Reply, Error> {
        let config = &*self.0;
        let sending = Sending::new(config, &request, options)?;
        let (policy, budget) = (options.policy(config), &config.budget);
        let mut attempts = Attempts::first(policy, budget, &config.dice, request.resend);
        let span = Span::call(&request.route, &config.base_url);
        loop {
            let attempt = span.attempt(&request.route, &config.base_url, attempts.number);
            let outcome = attempt.around(sending.attempt(config)).await;
            let status = outcome.as_ref().map(|reply| reply.status);
            attempt.ended(status);
            let (fate, wish) = match &outcome {
                Ok(reply) if reply.status.is_success() => (None, None),
                Ok(reply) => (Some(Fate::Refused(reply.status)), reply.retry_after(&config.time)),
                Err(error) => (error.fate(), None),
            };
            let delay = match fate {
                Some(fate) => attempts.after(fate, wish, sending.left(config)),
                None => None,
            };
            let Some(delay) = delay else {
                let (number, job) = (attempts.number, request.job);
                return match outcome {
                    Ok(mut reply) => {
                        (reply.attempts, reply.job, reply.wish) = (number, job, wish);
                        Ok(reply.within(span).to(config.headers.get(AUTHORIZATION)))
                    }
                    Err(error) => {
                        span.ended(Err(&error));
                        Err(error.after_attempts(number, job))
                    }
                };
            };
            span.again(attempts.number, delay, status);
            config.time.sleep(delay).await;
        }
    }
}

fn url(config: &Config, request: &Request) -> Url {
    let mut url = config.base_url.clone();
    url.set_path(&format!("{}{}", url.path().trim_end_matches('/'), request.path));
    if !request.query.is_empty() {
        url.query_pairs_mut().extend_pairs(&request.query);
    }
    url
}

fn headers(config: &Config, request: &Request, options: &CallOptions) -> HeaderMap {
    let mut headers = config.headers.clone();
    if request.body.is_some() {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    } else if request.route.method == Method::POST {
        // Without a length some servers refuse a POST (411), and by itself none is sent.
        headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
    }
    options.add_headers(&mut headers);
    headers
}

fn body(request: &Request) -> OutgoingBody {
    request.body.clone().map_or(OutgoingBody::EMPTY, OutgoingBody::whole)
}

/// Whether an answer repeats what may authorise a request by its address. Some storages
/// quote the request they refuse.
fn repeats_query(body: &[u8], url: &Url) -> bool {
    let text = String::from_utf8_lossy(body);
    let as_sent = url.query().into_iter().flat_map(|query| query.split(['&', '=']));
    let meant = url.query_pairs().map(|(_, value)| value.into_owned());
    as_sent.map(str::to_owned).chain(meant).any(|secret| repeats(&text, &secret))
}
