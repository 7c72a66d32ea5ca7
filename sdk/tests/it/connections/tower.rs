//! A transport as a service of `tower`, and a service as a transport.

use std::time::Duration;

use http::{HeaderValue, Request, Response};
use promptarium::testing::{self, Answer, Script, fixture};
use promptarium::transport::{Body, Failure, ServiceTransport, TransportService};
use promptarium::{Client, Outcome, RetryPolicy};
use tower::{ServiceBuilder, service_fn};

fn client<T: promptarium::transport::Transport>(transport: T) -> Client {
    let builder = testing::builder(&Script::new()).retry(RetryPolicy::never());
    builder.transport(transport).build().unwrap()
}

#[tokio::test]
async fn layers_see_each_request_and_its_response() {
    let script = Script::new();
    script.get("/prompts/{promptId}").answer(Answer::data(&fixture::prompt()));
    let service = ServiceBuilder::new()
        .map_request(|mut request: Request<Body>| {
            request.headers_mut().insert("x-team", HeaderValue::from_static("harbours"));
            request
        })
        .map_response(|mut response: Response<Body>| {
            response.headers_mut().insert("x-request-id", HeaderValue::from_static("5f0c"));
            response
        })
        .service(TransportService(script.clone()));
    let call = client(ServiceTransport(service)).prompts().get(7.into());
    let response = call.send_with_meta().await.unwrap();
    assert_eq!(response.value.title, "Harbour");
    assert_eq!(response.meta.request_id().as_deref(), Some("5f0c"));
    assert_eq!(script.requests()[0].header("x-team"), Some("harbours"));
}

#[tokio::test]
async fn a_failure_of_the_transport_is_kept_and_another_error_leaves_the_outcome_open() {
    let refusing = |failure: fn() -> Box<dyn std::error::Error + Send + Sync>| {
        let service =
            service_fn(move |_: Request<Body>| async move { Err::<Response<Body>, _>(failure()) });
        client(ServiceTransport(service)).prompts().create("Dusk", "A harbour").send()
    };
    let error = refusing(|| Failure::not_processed("too many requests").into()).await.unwrap_err();
    assert_eq!(error.outcome(), Outcome::NotDone);
    let error = refusing(|| "a layer gave up".into()).await.unwrap_err();
    assert_eq!(error.outcome(), Outcome::Unknown);
}

#[tokio::test(start_paused = true)]
async fn a_time_limit_of_a_layer_leaves_the_outcome_open() {
    let script = Script::new();
    script.post("/prompts").answer(Answer::never());
    let service = ServiceBuilder::new()
        .timeout(Duration::from_secs(1))
        .service(TransportService(script.clone()));
    let create = client(ServiceTransport(service)).prompts().create("Dusk", "A harbour");
    let error = create.await.unwrap_err();
    assert!(error.is_transport() && error.outcome() == Outcome::Unknown, "{error}");
}
