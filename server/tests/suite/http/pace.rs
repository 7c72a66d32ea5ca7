//! Requests that come slowly, in pieces, ahead of their turn, or not to their end.

use super::{framing::length, prelude::*};

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    scenario! { "raw.pace.slow" ["HT-04"] slow,
        "A request that arrives slowly is taken whole or given up; others are served meanwhile" },
    scenario! { "raw.pace.breaks-off" ["HT-04"] breaks_off,
        "A request that breaks off anywhere makes nothing, and others are served" },
    scenario! { "raw.pace.ahead" ["HT-20"] |case| unless_busy(case, three_ahead),
        "Requests sent ahead on one connection are answered in their order" },
    scenario! { "raw.pace.expect" ["HT-21"] |case| unless_busy(case, continued),
        "A client that waits for 100 Continue gets it, or its answer at once" },
];

/// Between two pieces; long enough to come in packets of their own.
const PAUSE: Duration = Duration::from_millis(40);
const PIECES: usize = 8;
/// After this what came of a request that broke off is there to be seen.
const SETTLED: Duration = Duration::from_millis(300);

/// Sends all but the last byte in pieces with pauses, in which other requests must be answered;
/// then the last byte.
pub(crate) async fn drip(fixture: &Fixture, socket: &mut Socket, bytes: &[u8]) -> Result {
    let (nearly, last) = bytes.split_at(bytes.len() - 1);
    for piece in nearly.chunks(nearly.len().div_ceil(PIECES)) {
        socket.send(piece).await?;
        tokio::time::sleep(PAUSE).await;
        fixture.has_created(0).await?;
    }
    socket.send(last).await
}

/// Sends `slow` slowly behind `first`, which make up a request that creates a prompt.
async fn whole_or_not(fixture: &Fixture, first: &[u8], slow: &[u8]) -> Result {
    let mut socket = fixture.send(first).await?;
    drip(fixture, &mut socket, slow).await?;
    let received = answered(socket.next().await?)?;
    fixture.has_created(usize::from(succeeded(&received))).await
}

async fn slow(case: Case) -> Result {
    let fixture = Fixture::new(&case).await?;
    let head = fixture.typed().line(length(fixture.body.len())).head();
    whole_or_not(&fixture, &head, fixture.body.as_bytes()).await?;
    let fixture = Fixture::new(&case).await?;
    whole_or_not(&fixture, b"", &fixture.whole_post()).await
}

async fn breaks_off(case: Case) -> Result {
    let fixture = Fixture::new(&case).await?;
    let request = fixture.whole_post();
    let (length, step) = (request.len(), request.len() / 10);
    for end in (1..length).step_by(step).chain([length - 1]) {
        drop(fixture.send(&request[..end]).await?);
    }
    fixture.has_created(0).await?;
    // What a server makes of the last one takes it a moment.
    tokio::time::sleep(case.scaled(SETTLED)).await;
    fixture.has_created(0).await
}

async fn three_ahead(fixture: Fixture) -> Result {
    let requests = [fixture.get().head(), fixture.whole_post(), fixture.get().head()];
    let mut socket = fixture.send(requests.concat()).await?;
    socket.response().await?.status(200)?.equals("/data/promptCount", 0)?;
    // A server may close after any answer; then the rest was not carried out.
    let Received::Response(second) = socket.next().await? else {
        return fixture.has_created(0).await;
    };
    second.status(201)?.equals("/data/prompt", "A lighthouse")?;
    if let Received::Response(third) = socket.next().await? {
        third.status(200)?.equals("/data/promptCount", 1)?;
    }
    Ok(())
}

async fn continued(fixture: Fixture) -> Result {
    let request = fixture.typed().line(length(fixture.body.len()));
    let mut socket = fixture.send(request.line("Expect: 100-continue").head()).await?;
    let Received::Response(first) = socket.next_of_any_kind().await? else {
        return Err(socket.failure("an answer", "the end of the connection"));
    };
    let status = first.status_code();
    if status == 100 {
        socket.send(&fixture.body).await?;
        return answer(&mut socket).await?.status(201).map(drop);
    }
    first.ensure(is_refusal(status), "100 or a refusal", status)?;
    nothing_follows(socket).await?;
    fixture.has_created(0).await
}
