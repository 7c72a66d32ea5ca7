use futures::future::join_all;

use super::*;
use crate::generate::scripted::{Scripted, new_job, store, ticket};
use crate::store::JobStore;

const SECOND: Duration = Duration::from_secs(1);

fn is_refused(outcome: &Result<(JobKey, ProviderTicket), IntakeError>) -> bool {
    matches!(outcome, Err(IntakeError::Submit(SubmitError::Refused(_))))
}

fn is_unknown(outcome: &Result<(JobKey, ProviderTicket), IntakeError>) -> bool {
    matches!(outcome, Err(IntakeError::Submit(SubmitError::Unknown(_))))
}

#[tokio::test(start_paused = true)]
async fn of_many_equal_requests_at_once_one_is_handed_over_and_all_get_its_job() {
    let (store, by) = store().await;
    let provider = Scripted::on_submit(3 * SECOND, |_| Ok(()));
    let intake = Intake::new(store.clone(), provider.clone());
    let all = join_all((0..32).map(|_| intake.take_on(&by, new_job("j", "A harbour", None)))).await;
    for outcome in all {
        let (job, ticket) = outcome.unwrap();
        assert_eq!((&*job.client_job_id, &*ticket.request_id), ("j", "r-0"));
    }
    let later = intake.take_on(&by, new_job("j", "A harbour", None)).await.unwrap();
    assert_eq!(&*later.1.request_id, "r-0");
    assert_eq!(provider.calls().0, 1);
}

#[tokio::test(start_paused = true)]
async fn another_request_under_the_same_name_is_refused_at_once() {
    let (store, by) = store().await;
    let provider = Scripted::on_submit(3 * SECOND, |_| Ok(()));
    let intake = Intake::new(store, provider.clone());
    let first = intake.take_on(&by, new_job("j", "A harbour", None));
    let other = async {
        sleep(SECOND).await;
        let before = Instant::now();
        let other = intake.take_on(&by, new_job("j", "A forest", None)).await;
        assert!(matches!(other, Err(IntakeError::Store(StoreError::JobConflict))), "{other:?}");
        assert_eq!(Instant::now(), before);
    };
    assert!(tokio::join!(first, other).0.is_ok());
    assert_eq!(provider.calls().0, 1);
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_leaves_no_job_and_the_name_is_free() {
    let (store, by) = store().await;
    let provider = Scripted::on_submit(SECOND, |number| match number {
        0 => Err(SubmitError::Refused("no\0 such model".into())),
        1 => Err(SubmitError::Unavailable("down".into())),
        _ => Ok(()),
    });
    let intake = Intake::new(store.clone(), provider.clone());
    match intake.take_on(&by, new_job("j", "A harbour", None)).await {
        Err(IntakeError::Submit(SubmitError::Refused(why))) => assert_eq!(why, "no such model"),
        other => panic!("{other:?}"),
    }
    assert!(matches!(store.job(&by, "j").await, Err(StoreError::NotFound)));
    let down = intake.take_on(&by, new_job("j", "A harbour", None)).await;
    assert!(matches!(down, Err(IntakeError::Submit(SubmitError::Unavailable(_)))), "{down:?}");
    assert!(matches!(store.job(&by, "j").await, Err(StoreError::NotFound)));
    assert!(intake.take_on(&by, new_job("j", "A forest", None)).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn every_equal_request_is_refused_if_the_provider_refuses() {
    let (store, by) = store().await;
    let refuse = |_| Err(SubmitError::Refused("no such model".into()));
    let intake = Intake::new(store, Scripted::on_submit(Duration::from_millis(10), refuse));
    let all = join_all((0..8).map(|_| intake.take_on(&by, new_job("j", "A harbour", None)))).await;
    assert!(all.iter().all(is_refused), "{all:?}");
}

#[tokio::test(start_paused = true)]
async fn what_the_provider_may_have_is_a_failed_job_and_never_handed_over_again() {
    let (store, by) = store().await;
    let provider = Scripted::on_submit(SECOND, |_| Err(SubmitError::Unknown("broke off".into())));
    let intake = Intake::new(store.clone(), provider.clone());
    for _ in 0..3 {
        assert!(is_unknown(&intake.take_on(&by, new_job("j", "A harbour", None)).await));
    }
    assert_eq!(provider.calls().0, 1);
    let job = store.job(&by, "j").await.unwrap();
    assert_eq!(job.state, JobState::Failed(None, SUBMIT_UNKNOWN.into()));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_panics_or_hangs_may_have_taken_the_job() {
    let (store, by) = store().await;
    let panics = Scripted::on_submit(SECOND, |_| panic!("the provider fails"));
    let intake = Intake::new(store.clone(), panics);
    assert!(is_unknown(&intake.take_on(&by, new_job("panics", "A harbour", None)).await));

    let hangs = Scripted::on_submit(SUBMIT_TIMEOUT + SECOND, |_| Ok(()));
    let intake = Intake::new(store.clone(), hangs.clone());
    assert!(is_unknown(&intake.take_on(&by, new_job("hangs", "A harbour", None)).await));
    assert!(matches!(store.job(&by, "hangs").await.unwrap().state, JobState::Failed(None, _)));
    assert_eq!(hangs.calls().0, 1);
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_hangs_up_gets_the_job_when_asking_again() {
    let (store, by) = store().await;
    let provider = Scripted::on_submit(3 * SECOND, |_| Ok(()));
    let intake = Intake::new(store.clone(), provider.clone());
    let hung_up = timeout(SECOND, intake.take_on(&by, new_job("j", "A harbour", None))).await;
    assert!(hung_up.is_err());
    sleep(3 * SECOND).await;
    assert_eq!(store.job(&by, "j").await.unwrap().state, JobState::Queued(ticket("r-0")));
    assert!(intake.take_on(&by, new_job("j", "A harbour", None)).await.is_ok());
    assert_eq!(provider.calls().0, 1);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_ever_for_the_request_of_another() {
    let (store, by) = store().await;
    let provider = Scripted::on_submit(40 * SECOND, |_| Ok(()));
    let intake = Intake::new(store, provider.clone());
    let first = intake.take_on(&by, new_job("j", "A harbour", None));
    let second = async {
        sleep(SECOND).await;
        let before = Instant::now();
        let second = intake.take_on(&by, new_job("j", "A harbour", None)).await;
        assert!(matches!(second, Err(IntakeError::Busy)), "{second:?}");
        assert!(before.elapsed() <= PATIENCE);
    };
    assert!(tokio::join!(first, second).0.is_ok());
    assert_eq!(provider.calls().0, 1);
}
