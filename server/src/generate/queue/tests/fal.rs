//! What fal.ai and what stands before it do beyond the good case.

use super::super::protocol::output_files;
use super::*;

#[tokio::test]
async fn a_submission_with_addresses_of_another_origin_is_polled_below_the_configured_one() {
    let foreign = json!({
        "request_id": "r 1",
        "status_url": "https://queue.fal.example/acme/flux/requests/r/status",
        "response_url": "https://queue.fal.example/acme/flux/requests/r",
    });
    let log = Log::default();
    let guard = log.subscribe();
    for body in [foreign, json!({"request_id": "r 1"})] {
        let provider = start(submission(Json(200, body))).await;
        let client = QueueProvider::new(setting(&format!("{}/queue/", provider.uri()))).unwrap();
        let ticket = client.submit(&request()).await.unwrap();
        assert_eq!(&*ticket.request_id, "r 1");
        // The double has a picture at every other path.
        client.poll(&ticket, &request()).await.unwrap_err();
        client.cancel(&ticket).await.unwrap();
        let sent = received(&provider).await;
        let paths: Vec<_> = sent.iter().map(|sent| sent.url.path()).collect();
        let own = |last: &str| format!("/queue/acme/flux/requests/r%201/{last}");
        assert_eq!(paths, ["/queue/acme/flux/dev", &own("status"), &own("cancel")]);
    }
    drop(guard);
    let log = log.text();
    let lines = log.lines().filter(|line| line.contains("WARN"));
    assert_eq!(lines.filter(|line| line.contains("below --provider-url")).count(), 2, "{log}");
}

#[tokio::test]
async fn a_job_that_is_given_up_is_cancelled_with_the_key() {
    let provider = start(Script::default()).await;
    let client = client_of(&provider);
    let ticket = client.submit(&request()).await.unwrap();
    client.cancel(&ticket).await.unwrap();
    let sent = received(&provider).await;
    let last = sent.last().unwrap();
    assert_eq!((last.method.as_str(), last.url.path()), ("PUT", "/acme/flux/requests/r-1/cancel"));
    assert!(last.headers.contains_key(AUTHORIZATION));
}

#[tokio::test]
async fn the_addresses_of_outputs_outlive_the_result() {
    let provider = start(Script::default()).await;
    let client = client_of(&provider);
    let ticket = client.submit(&request()).await.unwrap();
    let progress = client.poll(&ticket, &request()).await.unwrap();
    let Progress::Completed { provider_state: Some(provider_state), .. } = progress else {
        panic!("the result has only addresses");
    };
    let before = received(&provider).await.len();
    let kept = ProviderTicket { provider_state, ..ticket };
    assert_eq!(load(&client, kept, &request()).await.unwrap().len(), 2);
    let after = received(&provider).await;
    assert!(after[before..].iter().all(|sent| sent.url.path().ends_with(".png")));
}

#[test]
fn outputs_are_read_in_every_form_that_models_give_them() {
    let (url, file) = (json!("https://a.example/1"), json!({"url": "https://a.example/1"}));
    for (kind, name, list) in
        [(OutputKind::Image, "image", "images"), (OutputKind::Video, "video", "videos")]
    {
        for value in [&url, &file] {
            for result in [
                json!({name: value}),
                json!({list: [value]}),
                json!({"output": value}),
                json!({"output": [value]}),
            ] {
                let files = output_files(result.to_string().as_bytes(), kind).unwrap();
                assert_eq!(files.len(), 1, "{result}");
                assert_eq!(files[0].url, "https://a.example/1", "{result}");
            }
        }
    }
}

#[tokio::test]
async fn an_output_is_followed_over_redirects_with_the_same_checks() {
    let provider = MockServer::start().await;
    let private = start(Script::default()).await;
    let elsewhere = format!("{}/1.png", private.uri());
    let respond = move |request: &wiremock::Request| match request.url.path() {
        "/hops/0" => ResponseTemplate::new(200).set_body_raw(png(32, 18), "image/png"),
        "/away" => redirect(&elsewhere),
        "/file" => redirect("file:///etc/passwd"),
        "/unchanged" => ResponseTemplate::new(304),
        path => {
            let left: u32 = path.rsplit('/').next().unwrap().parse().unwrap();
            redirect(&format!("{}", left - 1))
        }
    };
    Mock::given(any()).respond_with(respond).mount(&provider).await;
    let client = client_of(&provider);
    for (path, expected) in [
        ("hops/0", None),
        ("hops/1", None),
        ("hops/5", None),
        ("hops/6", Some("the address of an output redirects too often")),
        ("away", Some("an output: 127.0.0.1 is not a public address")),
        ("file", Some("an output: no http or https address")),
        ("unchanged", Some("an output: status 304")),
    ] {
        let url = provider.uri();
        let outputs = [json!({"url": format!("{url}/{path}")})];
        let state = json!({"status": url, "response": url, "outputs": outputs}).to_string();
        let ticket = ProviderTicket { request_id: "r".into(), provider_state: state.into() };
        let outcome = load(&client, ticket, &request()).await;
        let error = outcome.err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), expected, "{path}");
    }
    assert_eq!(received(&private).await.len(), 0);
}
