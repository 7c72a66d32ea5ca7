//! A slot is good for one upload, also when several want to be it.

use futures::future::join_all;

use super::pictures::{png, png_of_size};
use super::slot::{Slot, is_success};
use crate::scenario::core;
use crate::wire::Reply;
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "uploads.once.second" ["UP-14"] second,
        "A second upload to a slot is refused, also of the same bytes" },
    core! { "uploads.once.first-stays" ["UP-14"] first_stays,
        "After a second try the image is still the first one" },
    core! { "uploads.once.race" ["UP-14"] race,
        "Of several uploads to a slot at once one is taken, and it is the one that is shown" },
    core! { "uploads.once.overtaken" ["UP-14"] overtaken,
        "Of an upload and a quicker one that overtakes it one is taken, and it is the one that is \
         shown" },
];

async fn second(case: Case) -> Result<(), Failure> {
    let (first, other) = (png([1, 0, 0]), png([0, 1, 0]));
    let slot = Slot::used(&case, "image/png", &first).await?;
    for (what, bytes) in [("the same bytes again", &first), ("other bytes", &other)] {
        slot.put(bytes).send().await?.is_client_error(what)?;
    }
    Ok(())
}

async fn first_stays(case: Case) -> Result<(), Failure> {
    let first = png([1, 0, 0]);
    let slot = Slot::used(&case, "image/png", &first).await?;
    let second = png([0, 1, 0]);
    slot.put(&second).send().await?;
    slot.shows(&first, &[&second]).await
}

async fn race(case: Case) -> Result<(), Failure> {
    for round in 0..5 {
        let rivals: Vec<_> = (0..6).map(|n| png_of_size([round, n, 0], 100_000)).collect();
        let slot = Slot::for_png(&case, 100_000).await?;
        let answers = join_all(rivals.iter().map(|bytes| slot.put(bytes).send())).await;
        let winner = one_winner(&answers)?;
        shows_winner(&slot, &rivals, winner).await?;
    }
    Ok(())
}

async fn overtaken(case: Case) -> Result<(), Failure> {
    let [slow, quick] = [[1, 1, 0], [0, 1, 1]].map(|colour| png_of_size(colour, 50_000));
    let slot = Slot::for_png(&case, 50_000).await?;
    let (slow_call, halfway) = slot.put_with_a_rest(&slow);
    let quick_call = async {
        let going_on = halfway.await.ok();
        let answer = slot.put(&quick).send().await;
        drop(going_on);
        answer
    };
    let (slow_answer, quick_answer) = tokio::join!(slow_call.send(), quick_call);
    let winner = one_winner(&[slow_answer, quick_answer])?;
    shows_winner(&slot, &[slow, quick], winner).await
}

async fn shows_winner(slot: &Slot, rivals: &[Vec<u8>], winner: usize) -> Result<(), Failure> {
    let others = rivals.iter().enumerate().filter(|(at, _)| *at != winner);
    let others: Vec<_> = others.map(|(_, bytes)| &**bytes).collect();
    check::with_context("the winner's image", slot.shows(&rivals[winner], &others).await)
}

/// Which one was a success. Whoever lost may also have been hung up on.
fn one_winner(answers: &[Result<Reply, Failure>]) -> Result<usize, Failure> {
    let won = |at: &usize| answers[*at].as_ref().is_ok_and(is_success);
    let winners: Vec<_> = (0..answers.len()).filter(won).collect();
    match winners[..] {
        [winner] => Ok(winner),
        _ => {
            let status = |answer: &Result<Reply, _>| answer.as_ref().ok().map(Reply::status_code);
            let statuses: Vec<_> = answers.iter().map(status).collect();
            Err(Failure::failed("exactly one success", format!("{statuses:?}")))
        }
    }
}
