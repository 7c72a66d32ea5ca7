//! Requests that come slowly, in pieces, ahead of their turn, or not to their end.

use std::time::Duration;

use crate::scenario::{http, reference};
use crate::wire::raw::{Received, Socket};
use crate::{Case, Failure, Scenario, check};

use super::{Site, answered, over, said, served};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    http! { "raw.pace.slow-body" ["HT-04"] [HttpOne] slow_body,
        "A body that comes slowly is taken whole or given up, and others are served meanwhile" },
    http! { "raw.pace.slow-head" ["HT-04"] [HttpOne] slow_head,
        "A head that comes slowly is read whole or given up, and others are served meanwhile" },
    http! { "raw.pace.breaks-off" ["HT-04"] [HttpOne] breaks_off,
        "A request that breaks off anywhere makes nothing, and others are served" },
    http! { "raw.pace.ahead" ["HT-20"] [HttpOne] ahead,
        "Requests sent ahead on one connection are answered in their order" },
    http! { "raw.pace.expect" ["HT-21"] [HttpOne] expect,
        "A client that waits to be told to go on is told so, or gets its answer at once" },
    reference! { "raw.pace.many-waiting" ["VA-21"] [HttpOne] many_waiting,
        "Fifty connections that say nothing keep nobody from being served" },
    reference! { "raw.pace.status" ["HT-20"] [HttpOne] status,
        "A slow request is 201, two sent ahead are both answered, and a wrong key is 401 without \
         its body (S-80)" },
];

/// Between two pieces; long enough to come in packets of their own.
const PAUSE: Duration = Duration::from_millis(40);
const PIECES: usize = 8;

/// Sends it in pieces with pauses, in which other requests must be answered.
async fn drip(site: &Site, socket: &mut Socket, bytes: &[u8]) -> Result<(), Failure> {
    for piece in bytes.chunks(bytes.len().div_ceil(PIECES)) {
        socket.send(piece).await?;
        tokio::time::sleep(PAUSE).await;
        site.is_empty().await?;
    }
    Ok(())
}

async fn slow_body(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    let body = site.body();
    let (nearly, last) = body.split_at(body.len() - 1);
    let head = site.typed().line(format!("Content-Length: {}", body.len())).head();
    let mut socket = site.socket().await?;
    socket.send(head).await?;
    drip(&site, &mut socket, nearly.as_bytes()).await?;
    socket.send(last).await?;
    whole_or_not(&site, &mut socket).await
}

async fn slow_head(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    let request = site.post().json(&site.body());
    let (nearly, last) = request.split_at(request.len() - 1);
    let mut socket = site.socket().await?;
    drip(&site, &mut socket, nearly).await?;
    socket.send(last).await?;
    whole_or_not(&site, &mut socket).await
}

async fn whole_or_not(site: &Site, socket: &mut Socket) -> Result<(), Failure> {
    let heard = answered(socket.next().await?, socket)?;
    let made = matches!(heard, Received::Reply(reply) if reply.status_code() < 300);
    check::equal("the prompts made", &site.made().await?, &usize::from(made))
}

async fn breaks_off(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    let request = site.post().json(&site.body());
    let (length, step) = (request.len(), request.len() / 10);
    for end in (1..length).step_by(step).chain([length - 1]) {
        let mut socket = site.socket().await?;
        socket.send(&request[..end]).await?;
        drop(socket);
    }
    site.is_empty().await
}

async fn ahead(case: Case) -> Result<(), Failure> {
    served(&case, three_ahead).await
}

async fn three_ahead(site: Site) -> Result<(), Failure> {
    let requests = [site.get().head(), site.post().json(&site.body()), site.get().head()];
    let mut socket = site.socket().await?;
    socket.send(requests.concat()).await?;
    socket.reply().await?.status(200)?.equals("/data/promptCount", 0)?;
    // A server may close after any answer; then the rest was not carried out.
    let Received::Reply(second) = socket.next().await? else { return site.is_empty().await };
    second.status(201)?.equals("/data/prompt", "A lighthouse")?;
    if let Received::Reply(third) = socket.next().await? {
        third.status(200)?.equals("/data/promptCount", 1)?;
    }
    Ok(())
}

async fn expect(case: Case) -> Result<(), Failure> {
    served(&case, told_to_go_on).await
}

async fn told_to_go_on(site: Site) -> Result<(), Failure> {
    let body = site.body();
    let draft = site.typed().line(format!("Content-Length: {}", body.len()));
    let mut socket = site.socket().await?;
    socket.send(draft.line("Expect: 100-continue").head()).await?;
    let first = said(socket.next_of_any_kind().await?)?;
    if first.status_code() == 100 {
        socket.send(&body).await?;
        let reply = said(answered(socket.next().await?, &socket)?)?;
        return reply.status(201).map(drop);
    }
    first.ensure(
        super::is_refusal(first.status_code()),
        "100 or a refusal",
        first.status_code(),
    )?;
    over(socket).await?;
    site.is_empty().await
}

async fn many_waiting(case: Case) -> Result<(), Failure> {
    served(&case, beside_many).await
}

async fn beside_many(site: Site) -> Result<(), Failure> {
    let mut waiting = Vec::new();
    for number in 0..50 {
        let mut socket = site.socket().await?;
        if number % 2 == 0 {
            socket.send(&site.post().head()[..20]).await?;
        }
        waiting.push(socket);
    }
    // A client may have a connection from before; somebody new is served too.
    let mut socket = site.socket().await?;
    socket.send(site.get().head()).await?;
    socket.reply().await?.status(200)?.equals("/data/id", site.vault)?;
    let made = crate::make::prompts(&site.case, &site.case.wire(), 4).await?;
    drop(waiting);
    check::equal("the prompts made meanwhile", &made.len(), &4)
}

async fn status(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    let request = site.post().json(&site.body());
    let (nearly, last) = request.split_at(request.len() - 1);
    let mut socket = site.socket().await?;
    drip(&site, &mut socket, nearly).await?;
    socket.send(last).await?;
    socket.reply().await?.status(201)?;
    socket.send([site.get().head(), site.get().head()].concat()).await?;
    for _ in 0..2 {
        socket.reply().await?.status(200)?.equals("/data/promptCount", 1)?;
    }
    let draft = site.typed().without("Authorization").line("Authorization: Bearer none");
    let draft = draft.line("Expect: 100-continue").line("Content-Length: 9");
    let mut socket = site.socket().await?;
    socket.send(draft.head()).await?;
    socket.reply().await?.status(401).map(drop)
}
