use tokio::time::Instant;

use super::*;

/// What is there after a while, however the workers took turns.
async fn until_all_are_done(world: &World, names: &[String]) {
    for name in names {
        while !matches!(world.state(name).await, JobState::Completed(..)) {
            sleep(Duration::from_millis(50)).await;
        }
    }
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|at| format!("job-{at}")).collect()
}

#[tokio::test(start_paused = true)]
async fn a_crew_sees_every_job_through_once() {
    let world = World::new(Scripted::on_poll(SECOND, |_| Ok(pictures(2)))).await;
    let crew = Crew::start(&world.worker, 8);
    let names = names(40);
    for name in &names {
        world.queue(name, None).await;
    }
    until_all_are_done(&world, &names).await;
    crew.stop().await;
    assert_eq!(world.contents(None).await.len(), names.len());
    assert_eq!(world.provider.calls(), (0, names.len()));
    assert!(world.shelf.puts.lock().unwrap().values().all(|puts| *puts == 1));
}

#[tokio::test(start_paused = true)]
async fn an_idle_crew_takes_a_new_job_at_once() {
    let world = World::new(at_once(pictures(1))).await;
    let crew = Crew::start(&world.worker, 2);
    sleep(10 * SECOND).await;
    let before = Instant::now();
    world.queue("j", None).await;
    until_all_are_done(&world, &["j".into()]).await;
    assert!(before.elapsed() <= Duration::from_millis(50), "{:?}", before.elapsed());
    crew.stop().await;
}

/// Each crew is killed in the middle of whatever it is doing: asking, storing, or
/// between the two.
#[tokio::test(start_paused = true)]
async fn crews_that_are_killed_in_the_middle_leave_exactly_one_set_of_outputs() {
    for killed_after_ms in (0..4000).step_by(250) {
        let shelf = TestShelf { delay: SECOND, ..TestShelf::default() };
        let provider = Scripted::on_poll(SECOND, |_| Ok(pictures(2)));
        let world = World::with_shelf(provider, shelf).await;
        let vault = world.vault().await;
        world.queue("j", Some(vault)).await;
        for _ in 0..3 {
            let crew = Crew::start(&world.worker, 1);
            sleep(Duration::from_millis(killed_after_ms)).await;
            drop(crew);
            sleep(LEASE + SECOND).await;
        }
        let last = Crew::start(&world.worker, 2);
        until_all_are_done(&world, &["j".into()]).await;
        last.stop().await;
        let contents = world.contents(Some(vault)).await;
        assert_eq!(contents.len(), 1, "killed after {killed_after_ms} ms");
        assert_eq!(contents[0].prompt.images.len(), 2);
        assert_eq!(world.shelf.puts.lock().unwrap().len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn the_job_of_a_killed_worker_goes_on_soon_after_its_lease() {
    let world = World::new(Scripted::on_poll(Duration::ZERO, |_| Ok(pictures(1)))).await;
    world.queue("j", None).await;
    let claim = world.store.claim_job(LEASE, SUBMIT_LIMIT).await.unwrap();
    drop(claim);
    let before = Instant::now();
    let crew = Crew::start(&world.worker, 1);
    until_all_are_done(&world, &["j".into()]).await;
    assert!(before.elapsed() <= LEASE + SECOND, "{:?}", before.elapsed());
    crew.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_crew_that_stops_hands_its_jobs_back_for_others_at_once() {
    let world = World::new(Scripted::on_poll(20 * SECOND, |_| Ok(pictures(1)))).await;
    world.queue("j", None).await;
    let crew = Crew::start(&world.worker, 1);
    sleep(SECOND).await;
    let before = Instant::now();
    crew.stop().await;
    assert_eq!(before.elapsed(), Duration::ZERO);
    let claim = world.store.claim_job(LEASE, SUBMIT_LIMIT).await.unwrap().unwrap();
    assert_eq!(claim.setbacks, 0);
}

#[tokio::test(start_paused = true)]
async fn a_worker_outlives_whatever_panics() {
    let world = World::new(Scripted::on_poll(Duration::ZERO, |poll| {
        assert!(poll > 2, "the provider fails");
        Ok(pictures(1))
    }));
    let world = world.await;
    let crew = Crew::start(&world.worker, 1);
    world.queue("j", None).await;
    until_all_are_done(&world, &["j".into()]).await;
    crew.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_empty_crew_leaves_jobs_queued() {
    let world = World::new(at_once(pictures(1))).await;
    let crew = Crew::start(&world.worker, 0);
    world.queue("j", None).await;
    sleep(60 * SECOND).await;
    assert_eq!(world.state("j").await, JobState::Queued(ticket("j")));
    crew.stop().await;
}
