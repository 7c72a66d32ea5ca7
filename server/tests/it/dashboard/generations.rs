//! Generating in the dashboard: the form, its jobs, and their results.

use promptarium_server::EmbeddedServer;
use promptarium_server::provider::SubmitError;
use serde_json::json;

use super::{Browser, attribute};
use crate::generations::SlowProvider;
use crate::support::browser::{request, send};

#[tokio::test]
async fn sending_the_form_twice_queues_one_job() {
    let provider = SlowProvider::new(Ok(()), 0);
    let builder = EmbeddedServer::builder().provider(provider.clone());
    let browser = Browser::on(builder.start().await.unwrap()).await;
    let page = browser.page("/generate").await;
    let job = attribute(&page, "name=\"clientJobId\" value=\"").to_owned();
    let form = format!("prompt=Harbour&modelId=m&aspectRatio=16%3A9&clientJobId={job}");
    for _ in 0..2 {
        let sent = browser.post("/generate", &form).await;
        let expected = format!("/jobs/{job}?done=queued");
        assert_eq!((sent.status, sent.header("location")), (303, Some(&*expected)));
    }
    // Going back, changing the form and sending it again is another request.
    let changed = browser.post("/generate", &form.replace("Harbour", "Lake")).await;
    let other = changed.header("location").unwrap();
    assert!(changed.status == 303 && !other.contains(&job), "{other}");
    let page = browser.page("/jobs").await;
    assert_eq!(page.matches("<progress").count(), 2, "{page}");
    assert!(page.contains("16:9") && !page.contains("http-equiv"), "{page}");
    let next = browser.page("/generate").await;
    assert_ne!(attribute(&next, "name=\"clientJobId\" value=\""), job);
}

#[tokio::test]
async fn a_finished_picture_is_in_its_job_and_in_its_prompt_and_on_the_overview() {
    let browser = Browser::open().await;
    let form = "prompt=A+harbour&modelId=local%2Fplasma&seed=7&negativePrompt=people&batchCount=2";
    let job = browser.post("/generate", form).await.header("location").unwrap().to_owned();
    let jobs = browser.ended_jobs().await;
    let prompt = attribute(&jobs, "Completed: </span><a href=\"").to_owned();
    let shown = browser.page(&job).await;
    for part in ["The generation is queued.", "2 pictures", "seed <bdi>7</bdi>", "people", "<img "]
    {
        assert!(shown.contains(part), "no {part}: {shown}");
    }
    let page = browser.page(&prompt).await;
    for part in ["local/plasma", "1:1", "alt=\"A harbour\""] {
        assert!(page.contains(part), "no {part}: {page}");
    }
    let source = attribute(&page, "src=\"").to_owned();
    assert!(source.starts_with("/assets/"), "{source}");
    let asset = send(&browser.server, &request("GET", &source, "", "")).await;
    assert_eq!(asset.status, 200);
    assert_eq!(asset.header("content-security-policy"), Some("sandbox"));
    let overview = browser.page("/").await;
    let small = attribute(&overview, "<img loading=\"lazy\" src=\"").to_owned();
    assert_eq!(send(&browser.server, &request("GET", &small, "", "")).await.status, 200, "{small}");
}

/// The script looks for a running job in a new version of the page by the address of the job.
#[tokio::test]
async fn a_running_job_names_its_page() {
    let provider = SlowProvider::new(Ok(()), 0);
    let builder = EmbeddedServer::builder().provider(provider.clone());
    let browser = Browser::on(builder.start().await.unwrap()).await;
    let job = json!({ "modelId": "m", "prompt": "p", "clientJobId": "a/b?c ü" });
    browser.create("/generations", job).await;
    let jobs = browser.page("/jobs").await;
    let own = attribute(&jobs, "<div class=\"job\" data-poll=\"");
    assert!(browser.page(own).await.contains(&format!("class=\"title\" href=\"{own}\"")));
}

#[tokio::test]
async fn a_failed_job_can_be_tried_again_once_for_each_form() {
    let browser = Browser::open().await;
    let form = "prompt=A+ship&modelId=local%2Ffail&seed=7";
    let job = browser.post("/generate", form).await.header("location").unwrap().to_owned();
    let job = job.split('?').next().unwrap();
    let jobs = browser.ended_jobs().await;
    let name = attribute(&jobs, "name=\"clientJobId\" value=\"").to_owned();
    let retry = format!("{job}/retry");
    for _ in 0..2 {
        let sent = browser.post(&retry, &format!("clientJobId={name}")).await;
        assert_eq!(sent.header("location"), Some(&*format!("/jobs/{name}?done=queued")));
    }
    let jobs = browser.ended_jobs().await;
    assert_eq!(jobs.matches("Failed: ").count(), 2, "{jobs}");
    let again = browser.page(&format!("/generate?job={name}")).await;
    for part in ["\nA ship</textarea>", "value=\"local/fail\"", "value=\"7\""] {
        assert!(again.contains(part), "no {part}: {again}");
    }
    let completed = "prompt=p&modelId=local%2Fplasma&clientJobId=done";
    browser.post("/generate", completed).await;
    browser.ended_jobs().await;
    assert_eq!(browser.post("/jobs/done/retry", "").await.status, 400);
}

#[tokio::test]
async fn a_refusal_of_the_provider_is_told_beside_the_form_and_keeps_it() {
    for (error, status, text) in [
        (
            SubmitError::Refused("no such ratio".to_owned()),
            400,
            "refused the generation: no such ratio",
        ),
        (SubmitError::Unavailable("down".to_owned()), 503, "nothing was queued"),
        (SubmitError::Unknown("silent".to_owned()), 502, "it is not known whether"),
    ] {
        let provider = SlowProvider::new(Err(error), 0);
        let builder = EmbeddedServer::builder().provider(provider);
        let browser = Browser::on(builder.start().await.unwrap()).await;
        let refused = browser.post("/generate", "prompt=A+harbour&modelId=m&seed=12").await;
        assert_eq!(refused.status, status, "{text}");
        for part in [text, "\nA harbour</textarea>", "value=\"12\"", "role=\"alert\""] {
            assert!(refused.body.contains(part), "no {part}: {}", refused.body);
        }
    }
}
