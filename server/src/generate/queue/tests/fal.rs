//! What fal.ai and what stands before it do beyond the good case.

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
    for submission in [foreign, json!({"request_id": "r 1"})] {
        let script = Script { submission: Json(200, submission), ..Script::default() };
        let provider = start(script).await;
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
    let Progress::Ready(provider_state) = client.poll(&ticket, &request()).await.unwrap() else {
        panic!("the result has only addresses");
    };
    let kept = ProviderTicket { provider_state, ..ticket };
    let before = received(&provider).await.len();
    let progress = poll_and_load(&client, &kept, &request()).await.unwrap();
    assert!(matches!(&progress, Progress::Completed(outputs) if outputs.len() == 2));
    let after = received(&provider).await;
    assert!(after[before..].iter().all(|sent| sent.url.path().ends_with(".png")));
}

#[tokio::test]
async fn outputs_are_read_in_every_form_that_models_give_them() {
    let (url, file) = (json!("ORIGIN/1.png"), json!({"url": "ORIGIN/1.png"}));
    for result in [
        json!({"images": [url]}),
        json!({"images": [file]}),
        json!({"image": url}),
        json!({"image": file}),
        json!({"output": url}),
        json!({"output": file}),
        json!({"output": [url]}),
    ] {
        let script = Script { result: Json(200, result.clone()), ..Script::default() };
        match poll(script).await {
            Ok(Progress::Completed(outputs)) => assert_eq!(outputs.len(), 1, "{result}"),
            other => panic!("{result}: {other:?}"),
        }
    }
    for result in [json!({"video": "ORIGIN/1.mp4"}), json!({"output": ["ORIGIN/1.mp4"]})] {
        let files = protocol::output_files(result.to_string().as_bytes(), OutputKind::Video);
        assert_eq!(files.unwrap().len(), 1, "{result}");
    }
}

#[tokio::test]
async fn an_output_is_followed_over_redirects_with_the_same_checks() {
    let provider = MockServer::start().await;
    let private = start(Script::default()).await;
    let elsewhere = format!("{}/1.png", private.uri());
    let respond = move |request: &wiremock::Request| {
        let to = |url: &str| ResponseTemplate::new(302).insert_header("location", url);
        match request.url.path() {
            "/hops/0" => ResponseTemplate::new(200).set_body_raw(picture(), "image/png"),
            "/away" => to(&elsewhere),
            "/file" => to("file:///etc/passwd"),
            "/unchanged" => ResponseTemplate::new(304),
            path => {
                let left: u32 = path.rsplit('/').next().unwrap().parse().unwrap();
                to(&format!("{}", left - 1))
            }
        }
    };
    Mock::given(any()).respond_with(respond).mount(&provider).await;
    let client = client_of(&provider);
    let load = async |path: &str| {
        let outputs = [json!({"url": format!("{}/{path}", provider.uri())})];
        let url = provider.uri();
        let state = json!({"status": url, "response": url, "outputs": outputs}).to_string();
        let ticket = ProviderTicket { request_id: "r".into(), provider_state: state.into() };
        poll_and_load(&client, &ticket, &request()).await
    };
    for path in ["hops/0", "hops/1", "hops/5"] {
        let progress = load(path).await;
        assert!(matches!(progress, Ok(Progress::Completed(_))), "{path}: {progress:?}");
    }
    for (path, expected) in [
        ("hops/6", "the address of an output redirects too often"),
        ("away", "an output is at an address that is not public"),
        ("file", "an output has no http or https address"),
    ] {
        match load(path).await {
            Ok(Progress::Failed(reason)) => assert_eq!(reason, expected),
            other => panic!("{path}: {other:?}"),
        }
    }
    load("unchanged").await.unwrap_err();
    assert_eq!(received(&private).await.len(), 0);
}
