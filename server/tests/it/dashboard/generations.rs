//! Generating in the dashboard: the form, its jobs, and their results.

use promptarium_server::EmbeddedServer;
use promptarium_server::provider::{PollError, SubmitError};
use serde_json::json;

use crate::generations::SlowProvider;
use crate::support::browser::{Browser, assert_has, attribute};
use crate::support::{TIMEOUT, wait_until};

async fn browser_with(result: Result<(), SubmitError>) -> Browser {
    let builder = EmbeddedServer::builder().provider(SlowProvider::new(result, 0));
    Browser::on(builder.start().await.unwrap()).await
}

#[tokio::test]
async fn sending_the_form_twice_queues_one_job() {
    let browser = browser_with(Ok(())).await;
    let page = browser.page("/generate").await;
    let job = attribute(&page, "name=\"clientJobId\" value=\"").to_owned();
    let form = format!("prompt=Harbour&modelId=m&aspectRatio=16%3A9&clientJobId={job}");
    for _ in 0..2 {
        let sent = browser.post("/generate", &form).await;
        assert_eq!((sent.status, sent.location()), (303, &*format!("/jobs/{job}?done=queued")));
    }
    // Going back, changing the form and sending it again is another request.
    let changed = browser.post("/generate", &form.replace("Harbour", "Lake")).await;
    assert!(changed.status == 303 && !changed.location().contains(&job), "{changed:?}");
    let page = browser.page("/jobs").await;
    assert_eq!(page.matches("<progress").count(), 2, "{page}");
    assert!(page.contains("16:9") && !page.contains("http-equiv"), "{page}");
}

/// The script looks for a running job in a new version of the page by the address of the job.
#[tokio::test]
async fn a_running_job_names_its_page() {
    let browser = browser_with(Ok(())).await;
    let job = json!({ "modelId": "m", "prompt": "p", "clientJobId": "a/b?c ü" });
    browser.create("/generations", job).await;
    let jobs = browser.page("/jobs").await;
    let own = attribute(&jobs, "<div class=\"job\" data-poll=\"");
    assert!(browser.page(own).await.contains(&format!("class=\"title\" href=\"{own}\"")));
}

#[tokio::test]
async fn a_finished_picture_is_in_its_job_and_in_its_prompt_and_on_the_overview() {
    let browser = Browser::open().await;
    let form = "prompt=A+harbour&modelId=local%2Fplasma&seed=7&negativePrompt=people&batchCount=2";
    let queued = browser.post("/generate", form).await;
    let jobs = browser.ended_jobs().await;
    assert_eq!(jobs.matches("src=\"/thumbnails/").count(), 2, "{jobs}");
    assert!(!jobs.contains("src=\"/assets/"), "the list loads whole pictures: {jobs}");
    let parts = ["Generation queued.", "2 pictures", "seed <bdi>7</bdi>", "people", "<img "];
    assert_has(&browser.page(queued.location()).await, &parts);
    let page = browser.page(attribute(&jobs, "Completed: </span><a href=\"")).await;
    assert_has(&page, &["local/plasma", "1:1", "alt=\"A harbour\"", "src=\"/assets/"]);
    let asset = browser.visit(attribute(&page, "src=\"")).await;
    assert_eq!((asset.status, asset.header("content-security-policy")), (200, Some("sandbox")));
    let overview = browser.page("/").await;
    let small = attribute(&overview, "<img loading=\"lazy\" src=\"");
    assert_eq!(browser.visit(small).await.status, 200, "{small}");
}

#[tokio::test]
async fn a_failed_job_can_be_tried_again_once_for_each_form() {
    let browser = Browser::open().await;
    let form = "prompt=A+ship&modelId=local%2Ffail&seed=7";
    let queued = browser.post("/generate", form).await;
    let retry = format!("{}/retry", queued.location().split('?').next().unwrap());
    let jobs = browser.ended_jobs().await;
    let name = attribute(&jobs, "name=\"clientJobId\" value=\"").to_owned();
    for _ in 0..2 {
        let sent = browser.post(&retry, &format!("clientJobId={name}")).await;
        assert_eq!(sent.location(), format!("/jobs/{name}?done=queued"));
    }
    let jobs = browser.ended_jobs().await;
    assert_eq!(jobs.matches("Failed: ").count(), 2, "{jobs}");
    let job = json!({ "modelId": "local/plasma", "prompt": "p", "clientJobId": "done" });
    browser.create("/generations", job).await;
    browser.ended_jobs().await;
    let refused = browser.post("/jobs/done/retry", "").await;
    assert!(refused.status == 400 && refused.body.contains("has not failed"), "{refused:?}");
    let again = browser.page(&format!("/generate?job={name}")).await;
    assert_has(&again, &["\nA ship</textarea>", "value=\"local/fail\"", "value=\"7\""]);
}

/// A provider that refuses the service is not the fault of the person, who sees what the job waits for.
#[tokio::test]
async fn a_job_says_why_it_failed_or_what_it_waits_for() {
    let filtered = "the provider's safety filter replaced the output";
    for (error, text) in [
        (PollError::Permanent(filtered.to_owned()), filtered),
        (PollError::NotAuthorized("no balance".to_owned()), "the provider refuses this service"),
    ] {
        let builder = EmbeddedServer::builder().provider(SlowProvider::failing(error));
        let browser = Browser::on(builder.start().await.unwrap()).await;
        browser.post("/generate", "prompt=p&modelId=m&clientJobId=j").await;
        let shown = async || browser.page("/jobs/j").await.contains(text);
        wait_until(TIMEOUT, shown).await.expect(text);
        assert!(browser.page("/jobs").await.contains("Failed") == (text == filtered), "{text}");
    }
}

#[tokio::test]
async fn a_refusal_of_the_provider_is_told_beside_the_form_and_keeps_it() {
    let reason = "no such ratio".to_owned();
    for (error, status, text) in [
        (SubmitError::Refused(reason.clone()), 400, "refused the generation: no such ratio"),
        (SubmitError::Unavailable(reason.clone()), 503, "nothing was queued"),
        (SubmitError::Unknown(reason), 502, "it is not known whether"),
    ] {
        let browser = browser_with(Err(error)).await;
        let refused = browser.post("/generate", "prompt=A+harbour&modelId=m&seed=12").await;
        assert_eq!(refused.status, status, "{text}");
        let parts = [text, "\nA harbour</textarea>", "value=\"12\"", "role=\"alert\""];
        assert_has(&refused.body, &parts);
    }
}
