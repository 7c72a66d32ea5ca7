use super::*;

#[tokio::test(start_paused = true)]
async fn a_job_goes_from_queued_over_in_progress_to_completed() {
    let world = World::new(Scripted::on_poll(Duration::ZERO, |poll| {
        Ok(match poll {
            0 | 1 => Progress::Queued,
            2 => Progress::AtWork,
            _ => pictures(1),
        })
    }));
    let world = world.await;
    assert_eq!(world.worker.step().await.unwrap(), Step::Idle);
    world.queue("j", None).await;
    let mut states = Vec::new();
    for _ in 0..4 {
        let step = world.worker.step().await.unwrap();
        assert_eq!(step, if states.len() < 3 { Step::Waiting } else { Step::Done });
        states.push(world.state("j").await);
        assert_eq!(world.worker.step().await.unwrap(), Step::Idle, "it is not due yet");
        sleep(SECOND).await;
    }
    let has = || ticket("j");
    assert_eq!(states[..2], [JobState::Queued(has()), JobState::Queued(has())]);
    assert_eq!(states[2], JobState::InProgress(has()));
    assert!(matches!(&states[3], JobState::Completed(ticket, _) if *ticket == has()));
    assert_eq!(world.provider.calls(), (0, 4));
}

#[tokio::test(start_paused = true)]
async fn a_completed_job_is_one_prompt_with_a_picture_for_each_output() {
    for count in 1..=4 {
        let world = World::new(at_once(pictures(count))).await;
        let vault = world.vault().await;
        world.queue("j", Some(vault)).await;
        assert_eq!(world.steps_to_the_end("j").await, [Step::Done]);
        let contents = world.contents(Some(vault)).await;
        assert_eq!(contents.len(), 1);
        let prompt = &contents[0].prompt;
        assert_eq!(world.state("j").await, JobState::Completed(ticket("j"), prompt.id));
        assert_eq!((&*prompt.title, &*prompt.text), ("A harbour", "A harbour"));
        let urls: Vec<_> = prompt.images.iter().map(|image| image.url.to_string()).collect();
        let expected: Vec<_> = (0..count).map(|at| format!("http://localhost/j/{at}")).collect();
        assert_eq!(urls, expected);
        assert_eq!((prompt.images[0].width, prompt.images[0].height), (640, 480));
    }
}

#[tokio::test(start_paused = true)]
async fn a_vault_that_is_gone_is_made_up_for_by_general() {
    let world = World::new(at_once(pictures(2))).await;
    let vault = world.vault().await;
    world.queue("j", Some(vault)).await;
    world.store.delete_vault(&world.by, vault).await.unwrap();
    assert_eq!(world.steps_to_the_end("j").await, [Step::Done]);
    let contents = world.contents(None).await;
    assert_eq!((contents.len(), contents[0].prompt.images.len()), (1, 2));
    let job = world.store.job(&world.by, "j").await.unwrap();
    assert_eq!(contents[0].prompt.vault_ids, [job.vault]);
}

#[tokio::test(start_paused = true)]
async fn a_job_the_provider_gives_up_fails_with_its_reason() {
    let reasons =
        [("the prompt was not liked", "the prompt was not liked"), (" \0 ", "it gave no reason")];
    for (given, shown) in reasons {
        let world = World::new(at_once(Progress::Failed(given.into()))).await;
        world.queue("j", None).await;
        assert_eq!(world.steps_to_the_end("j").await, [Step::Failed]);
        assert_eq!(world.state("j").await, JobState::Failed(Some(ticket("j")), shown.into()));
        assert!(world.contents(None).await.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_that_ends_without_output_fails() {
    let world = World::new(at_once(pictures(0))).await;
    world.queue("j", None).await;
    assert_eq!(world.steps_to_the_end("j").await, [Step::Failed]);
    assert!(world.contents(None).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn setbacks_pass_and_leave_no_trace() {
    let world = World::new(Scripted::on_poll(Duration::ZERO, |poll| match poll {
        0..3 => Err(PollError("no answer".into())),
        3 => panic!("the provider fails"),
        _ => Ok(pictures(1)),
    }));
    let world = world.await;
    world.queue("j", None).await;
    let before = tokio::time::Instant::now();
    let steps = world.steps_to_the_end("j").await;
    assert_eq!(steps, [Step::Setback, Step::Setback, Step::Setback, Step::Setback, Step::Done]);
    // 1 + 2 + 4 + 8 seconds, in the timer's milliseconds.
    assert_eq!(before.elapsed().as_secs(), 15);
    assert_eq!(world.contents(None).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn too_many_setbacks_in_a_row_are_a_failure() {
    let world =
        World::new(Scripted::on_poll(Duration::ZERO, |_| Err(PollError("no answer".into()))));
    let world = world.await;
    world.queue("j", None).await;
    let steps = world.steps_to_the_end("j").await;
    assert_eq!(steps.len(), SETBACKS_MAX as usize);
    assert_eq!(steps.last(), Some(&Step::Failed));
    let reason = "the provider could not be asked for it, 20 times in a row";
    assert_eq!(world.state("j").await, JobState::Failed(Some(ticket("j")), reason.into()));
}

#[tokio::test(start_paused = true)]
async fn setbacks_count_anew_when_a_job_gets_on() {
    let world = World::new(Scripted::on_poll(Duration::ZERO, |poll| match poll {
        15 => Ok(Progress::AtWork),
        0..30 => Err(PollError("no answer".into())),
        _ => Ok(pictures(1)),
    }));
    let world = world.await;
    world.queue("j", None).await;
    assert_eq!(world.steps_to_the_end("j").await.last(), Some(&Step::Done));
}

#[tokio::test(start_paused = true)]
async fn a_full_disk_is_a_setback_and_nothing_is_there_twice_after_it() {
    let shelf = TestShelf { failures: Mutex::new(1), ..TestShelf::default() };
    let world = World::with_shelf(at_once(pictures(3)), shelf).await;
    world.queue("j", None).await;
    assert_eq!(world.steps_to_the_end("j").await, [Step::Setback, Step::Done]);
    assert_eq!(world.contents(None).await[0].prompt.images.len(), 3);
    assert_eq!(world.shelf.puts.lock().unwrap().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_stays_full_fails_the_job_with_that_reason() {
    let shelf = TestShelf { failures: Mutex::new(usize::MAX), ..TestShelf::default() };
    let world = World::with_shelf(at_once(pictures(1)), shelf).await;
    world.queue("j", None).await;
    assert_eq!(world.steps_to_the_end("j").await.last(), Some(&Step::Failed));
    let reason = "its output could not be stored, 20 times in a row";
    assert_eq!(world.state("j").await, JobState::Failed(Some(ticket("j")), reason.into()));
    assert!(world.contents(None).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_slow_provider_keeps_its_worker_and_its_lease() {
    let world = World::new(Scripted::on_poll(4 * LEASE, |_| Ok(pictures(1)))).await;
    world.queue("j", None).await;
    let other = async {
        for _ in 0..70 {
            sleep(SECOND).await;
            assert_eq!(world.worker.step().await.unwrap(), Step::Idle);
        }
    };
    let (step, ()) = tokio::join!(world.worker.step(), other);
    assert_eq!(step.unwrap(), Step::Done);
    assert_eq!(world.provider.calls(), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_hangs_is_a_setback() {
    let world = World::new(Scripted::on_poll(2 * POLL_TIMEOUT, |_| Ok(pictures(1)))).await;
    world.queue("j", None).await;
    assert_eq!(world.worker.step().await.unwrap(), Step::Setback);
}

#[tokio::test(start_paused = true)]
async fn a_job_that_nobody_hands_over_any_more_has_failed() {
    let world = World::new(at_once(pictures(1))).await;
    world.store.reserve_job(&world.by, new_job("j", "A harbour", None)).await.unwrap();
    sleep(SUBMIT_LIMIT - SECOND).await;
    assert_eq!(world.worker.step().await.unwrap(), Step::Idle);
    sleep(2 * SECOND).await;
    assert_eq!(world.worker.step().await.unwrap(), Step::Failed);
    assert_eq!(world.state("j").await, JobState::Failed(None, SUBMIT_UNKNOWN.into()));
    assert_eq!(world.provider.calls(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_was_too_slow_writes_nothing() {
    let world = World::new(at_once(pictures(1))).await;
    world.queue("j", None).await;
    let late = world.store.claim_job(LEASE, SUBMIT_LIMIT).await.unwrap().unwrap();
    sleep(LEASE + SECOND).await;
    let next = world.store.claim_job(LEASE, SUBMIT_LIMIT).await.unwrap().unwrap();
    assert_eq!(next.setbacks, 1, "a worker that is gone counts as a setback");
    for claim in [&late, &late] {
        let outcome = world.worker.attend(claim).await;
        assert!(matches!(outcome, Err(StoreError::LeaseLost)), "{outcome:?}");
    }
    assert!(world.contents(None).await.is_empty());
    assert_eq!(world.worker.attend(&next).await.unwrap(), Step::Done);
    assert!(matches!(world.worker.attend(&next).await, Err(StoreError::LeaseLost)));
    assert_eq!(world.contents(None).await.len(), 1);
}
