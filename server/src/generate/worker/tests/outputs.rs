//! Outputs: how they are downloaded, and the assets that they become.

use super::*;
use crate::domain::{AccountId, AssetName, JobKey, JobRecord, Media, OutputKind};
use crate::generate::tests::queued_job;
use crate::limits::LARGE_OUTPUTS_PER_ACCOUNT;

/// A video of so many MiB, that comes with this pause before each MiB.
fn video(mib: usize, pause: Duration) -> Progress {
    let head = stream::iter([Ok(Bytes::from_static(b"\0\0\0\x10ftypisom\0\0\0\0"))]);
    let bytes = head.chain(pieces(mib, 1 << 20, pause)).boxed();
    Progress::completed([Output { size: Some((2, 2)), bytes }])
}

impl Fixture {
    async fn video_job(&self, by: &Caller, name: &str) {
        let mut new = new_job(name, "A harbour", None);
        Arc::make_mut(&mut new.request).kind = OutputKind::Video;
        queue(&self.store, by, new).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_download_may_be_slow_but_not_stall_or_drip_and_has_a_largest_size() {
    let fixture = Fixture::new(|_| no_answer()).await;
    fixture.queue("j").await;
    let claim = fixture.claim().await.unwrap();
    let (mib, second) = (1 << 20, Duration::from_secs(1));
    for (bytes, outcome) in [
        (pieces(60, mib, second * 3), Ok(())),
        // Each pause is the longest, and the whole is too slow.
        (pieces(100, 1000, second * 59), Err("too slow, after 1000 bytes")),
        (pieces(10_000, 1, second / 10), Err("too slow, after 600 bytes")),
        (pieces(1, 1, second * 61), Err("too slow, after 0 bytes")),
        (pieces(100, mib, second / 100), Err("an output is larger than 60 MiB")),
        (stream::iter([Err(PollError::transient("broken"))]).boxed(), Err("broken")),
    ] {
        match (fixture.worker.download(&claim, bytes).await, outcome) {
            (Ok(_), Ok(())) => {}
            (Err(error), Err(text)) => assert!(error.to_string().contains(text), "{error}"),
            (outcome, expected) => panic!("{expected:?}: {:?}", outcome.err()),
        }
    }
}

#[tokio::test]
async fn the_bytes_of_an_output_decide_whether_it_can_be_used_and_its_size() {
    let fixture = Fixture::new(|_| no_answer()).await;
    fixture.queue("j").await;
    let mut claim = fixture.claim().await.unwrap();
    let mp4 = || Bytes::from_static(b"\0\0\0\x10ftypisom\0\0\0\0");
    let svg = br#"<svg xmlns="http://www.w3.org/2000/svg"/>"#;
    let (image, video) = (OutputKind::Image, OutputKind::Video);
    for (what, kind, bytes, size) in [
        ("a PNG", image, png(32, 18), Some((32, 18))),
        ("HTML for an image", image, Bytes::from_static(b"<!doctype html>"), None),
        ("SVG for an image", image, Bytes::from_static(svg), None),
        ("MP4 for an image", image, mp4(), None),
        ("PNG for a video", video, png(32, 18), None),
        ("an MP4", video, mp4(), Some((1, 1))),
    ] {
        Arc::make_mut(&mut claim.job.request).kind = kind;
        let output = Output { size: Some((1, 1)), bytes: stream::iter([Ok(bytes)]).boxed() };
        let stored = fixture.worker.put(&claim, 0, output).await;
        let refused = PollError::permanent("an output is not of a type that is asked for");
        let stored = stored.map(|image| (image.width, image.height));
        assert_eq!(stored, size.ok_or(refused), "{what}");
    }
}

#[tokio::test]
async fn an_output_has_one_name_for_its_index_in_its_job() {
    let fixture = Fixture::new(|_| no_answer()).await;
    let name = |secret, account, name: &str, created_at, request, index| {
        let job = JobRecord {
            key: JobKey { account: AccountId(account), client_job_id: name.into() },
            created_at: jiff::Timestamp::from_microsecond(created_at).unwrap(),
            ..queued_job(ticket(request))
        };
        let key = SigningKey::new(&[secret; SigningKey::BYTES_MIN]).unwrap();
        Worker { key, ..fixture.worker.clone() }.name(&job, index, Media::Png)
    };
    let mut names: Vec<AssetName> = Vec::new();
    for (is_new, name) in [
        (true, name(1, 1, "j", 0, "r", 0)),
        (false, name(1, 1, "j", 0, "r", 0)),
        (true, name(2, 1, "j", 0, "r", 0)),
        (true, name(1, 2, "j", 0, "r", 0)),
        (true, name(1, 1, "k", 0, "r", 0)),
        (true, name(1, 1, "j", 1, "r", 0)),
        (true, name(1, 1, "j", 0, "s", 0)),
        (true, name(1, 1, "j", 0, "r", 1)),
    ] {
        assert_eq!(!names.contains(&name), is_new, "after {}", names.len());
        names.push(name);
    }
}

/// The first two downloads are endless, the others have 40 MiB.
#[tokio::test(start_paused = true)]
async fn endless_outputs_hold_back_only_large_ones_of_their_account_which_say_so() {
    let mut fixture = Fixture::new(|poll| {
        Ok(match poll {
            0..LARGE_OUTPUTS_PER_ACCOUNT => video(10_000, SECOND),
            4 => video(15, Duration::ZERO),
            _ => video(40, Duration::ZERO),
        })
    })
    .await;
    fixture.worker.settings.output_max_mib = 512;
    let (alice, bob) = (fixture.by.clone(), account(&fixture.store, "bob").await);
    let pool = fixture.pool(16);
    for at in 0..LARGE_OUTPUTS_PER_ACCOUNT {
        fixture.video_job(&alice, &format!("endless {at}")).await;
    }
    sleep(30 * SECOND).await;
    fixture.video_job(&alice, "large").await;
    fixture.video_job(&bob, "other").await;
    sleep(10 * SECOND).await;
    fixture.video_job(&alice, "small").await;
    sleep(SECOND).await;
    let other = fixture.store.job(&bob, "other").await.unwrap().state;
    assert!(matches!(other, JobState::Completed(..)));
    assert!(matches!(fixture.state("small").await, JobState::Completed(..)));
    assert!(matches!(fixture.state("large").await, JobState::InProgress(_)));
    let expected = "other large outputs, of which few are downloaded at once";
    assert_eq!(fixture.waits_for("large").await.as_deref(), Some(expected));
    assert_eq!(fixture.waits_for("endless 0").await, None, "it has not waited");
    sleep(600 * SECOND).await;
    assert!(matches!(fixture.state("endless 0").await, JobState::Failed(..)));
    assert!(matches!(fixture.state("large").await, JobState::Completed(..)));
    pool.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_finished_request_keeps_its_new_state_and_its_outputs_are_stored_once() {
    let (folder, blobs) = failing_blobs();
    let images = folder.path().join("images");
    let mut fixture = Fixture::new(|poll| {
        let Progress::Completed { outputs, .. } = pictures(3) else { unreachable!() };
        let provider_state = (poll == 0).then(|| "addresses".into());
        Ok(Progress::Completed { outputs, provider_state })
    })
    .await;
    fixture.worker.blobs = blobs;
    fixture.queue("j").await;
    assert!(fixture.step().await);
    let state = fixture.state("j").await;
    assert!(matches!(state, JobState::InProgress(_)), "the provider has done its part: {state:?}");
    assert_eq!(&*state.ticket().unwrap().provider_state, "addresses");
    std::fs::remove_file(&images).unwrap();
    std::fs::create_dir(&images).unwrap();
    assert_eq!(fixture.steps_to_the_end("j").await, 1);
    assert_eq!(fixture.prompts(&fixture.by).await[0].prompt.images.len(), 3);
    assert_eq!(std::fs::read_dir(images).unwrap().count(), 3);
}

/// A picture is whole at the third attempt, or never.
#[tokio::test(start_paused = true)]
async fn a_cut_picture_is_fetched_again_for_minutes_then_kept_as_it_is() {
    for (whole_from, seconds) in [(2, 3), (usize::MAX, 127)] {
        let fixture = Fixture::new(move |poll| {
            let whole = png(32, 18);
            let end = if poll < whole_from { whole.len() - 20 } else { whole.len() };
            Ok(Progress::completed([Output::from(whole.slice(..end))]))
        });
        let fixture = fixture.await;
        fixture.queue("j").await;
        let began = Instant::now();
        fixture.steps_to_the_end("j").await;
        assert_eq!(began.elapsed().as_secs(), seconds);
        let image = &fixture.prompts(&fixture.by).await[0].prompt.images[0];
        let name = fixture.worker.assets.name_of(&image.source).unwrap();
        let stored = fixture.worker.blobs.read_all(&name, u64::MAX).await.unwrap().unwrap();
        assert_eq!(stored == png(32, 18), whole_from == 2);
    }
}
