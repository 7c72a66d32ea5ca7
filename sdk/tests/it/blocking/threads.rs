//! The threads of blocking calls: those that call, and those of an async runtime around them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

use futures::executor::block_on;
use futures::future::BoxFuture;
use http::{Request, Response};
use promptarium::transport::{Body, Failure, Transport};
use promptarium::{Client, UploadSource};
use wiremock::ResponseTemplate;

use super::client;
use crate::generations::service;
use crate::pages::{THREE, list};
use crate::stub::{KEY, answering, envelope};
use crate::uploads::{giving_slots, png, storage};

/// Answers after the future of the closure has ended.
struct RespondAfter<F>(F);

impl<F: Fn() -> BoxFuture<'static, ()> + Send + Sync + 'static> Transport for RespondAfter<F> {
    fn send(&self, _: Request<Body>) -> BoxFuture<'static, Result<Response<Body>, Failure>> {
        let before = (self.0)();
        Box::pin(async move {
            before.await;
            Ok(Response::new(Body::full(r#"{"data":[],"error":null}"#)))
        })
    }
}

fn over(before: impl Fn() -> BoxFuture<'static, ()> + Send + Sync + 'static) -> Client {
    let builder = Client::builder().base_url("http://h/api/v1").api_key(KEY);
    builder.transport(RespondAfter(before)).build().unwrap()
}

fn empty() -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(envelope(&serde_json::json!([])))
}

#[tokio::test]
async fn within_a_task_of_one_thread_nothing_panics() {
    let server = list(THREE).await;
    let client = client(&server);
    assert_eq!(client.prompts().list().items().blocking().count(), 5);
    let server = service(&["completed"]).await;
    assert!(super::client(&server).generations().wait("job-1").send_blocking().is_ok());
    let storage = storage(vec![]).await;
    let service = giving_slots(storage.uri(), |_| ()).await;
    assert!(super::client(&service).uploads().image(png(300_000)).send_blocking().is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn within_tasks_of_many_threads_nothing_panics() {
    let server = answering(empty()).await;
    let client = client(&server);
    let twin = client.clone();
    let task = tokio::spawn(async move { twin.vaults().list().send_blocking() });
    let twin = client.clone();
    let thread = tokio::task::spawn_blocking(move || twin.vaults().list().send_blocking());
    assert!(task.await.unwrap().is_ok() && thread.await.unwrap().is_ok());
    drop(client);
}

#[tokio::test]
async fn a_transport_that_yields_completes_within_a_task() {
    let client = over(|| {
        Box::pin(async {
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
        })
    });
    assert!(client.vaults().list().send_blocking().is_ok());
}

#[test]
fn threads_do_not_wait_for_each_other() {
    // No response before all eight requests were received.
    let all = Arc::new(tokio::sync::Barrier::new(8));
    let client = over(move || {
        let all = all.clone();
        Box::pin(async move {
            all.wait().await;
        })
    });
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert!(client.vaults().list().send_blocking().is_ok()));
        }
    });
}

#[test]
fn eight_threads_share_a_client() {
    let server = block_on(list(THREE));
    let client = client(&server);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(client.prompts().list().items().blocking().count(), 5));
        }
    });
    assert_eq!(super::requests(&server).len(), 24);
}

#[test]
fn one_thread_drives_the_connections_of_all_clients() {
    let seen = Arc::new(Mutex::new(Vec::<ThreadId>::new()));
    let client = || {
        let seen = seen.clone();
        over(move || {
            let seen = seen.clone();
            let note = async move { seen.lock().unwrap().push(thread::current().id()) };
            Box::pin(async { tokio::spawn(note).await.unwrap() })
        })
    };
    for client in [client(), client()] {
        client.vaults().list().send_blocking().unwrap();
    }
    let seen = seen.lock().unwrap();
    assert!(seen[0] == seen[1] && seen[0] != thread::current().id());
}

#[tokio::test]
async fn the_last_client_may_be_dropped_within_a_task() {
    let server = answering(empty()).await;
    let client = client(&server);
    client.vaults().list().send_blocking().unwrap();
    drop(client);
}

#[test]
fn a_panic_of_a_closure_is_the_callers_and_hurts_nobody_else() {
    let storage = block_on(storage(vec![]));
    let uploads = block_on(giving_slots(storage.uri(), |_| ()));
    let jobs = block_on(service(&["completed"]));
    let (uploading, waiting) = (client(&uploads), client(&jobs));
    let upload = uploading.uploads().image(png(300_000)).on_progress(|_| panic!("mine"));
    let wait = waiting.generations().wait("job-1").on_change(|_| panic!("mine"));
    let panic = catch_unwind(AssertUnwindSafe(|| upload.send_blocking())).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"mine"));
    let panic = catch_unwind(AssertUnwindSafe(|| wait.send_blocking())).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"mine"));
    assert!(uploading.uploads().image(png(20)).send_blocking().is_ok());
    assert!(waiting.generations().wait("job-1").send_blocking().is_ok());
}

#[test]
fn a_callback_may_call_too_and_runs_on_the_thread_of_the_call() {
    let storage = block_on(storage(vec![]));
    let uploads = block_on(giving_slots(storage.uri(), |_| ()));
    let other = block_on(answering(empty()));
    let (inner, here) = (client(&other), thread::current().id());
    let upload = client(&uploads).uploads().image(UploadSource::bytes(png(20)));
    let upload = upload.on_progress(move |_| {
        assert_eq!(thread::current().id(), here);
        inner.vaults().list().send_blocking().unwrap();
    });
    upload.send_blocking().unwrap();
    assert_eq!(super::requests(&other).len(), 2);
}
