//! Who rings the bell: a task that listens for notifications and also looks for
//! itself, since a job comes due by the mere passing of time, and a notification
//! may be lost with its connection.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_postgres::{Client, Error};

use super::line::{Line, Open};
use super::{CHANNEL, Plan, Post};
use crate::clock::Clock;
use crate::store::postgres::connect::NoConnection;
use crate::store::postgres::db::Statement;

/// How long those who wait go without a look.
const LOOK_MAX: Duration = Duration::from_secs(1);
/// The time between two looks at the least.
const LOOK_MIN: Duration = Duration::from_millis(5);
/// How long the database may take to connect or to answer.
const PATIENCE: Duration = Duration::from_secs(5);
const BACK_OFF_MIN: Duration = Duration::from_millis(100);
const BACK_OFF_MAX: Duration = Duration::from_secs(5);

/// How many jobs are due, as far as it matters, and how long it is till the next.
pub(in crate::store::postgres::jobs) static LOOK: Statement = Statement::reading(
    "jobs.look",
    "WITH moment AS MATERIALIZED (SELECT coalesce($1::timestamptz, clock_timestamp()) AS now) \
     SELECT \
         (SELECT count(*) FROM (SELECT FROM job WHERE due_at <= (SELECT now FROM moment) \
             ORDER BY due_at LIMIT 64) AS due) AS due, \
         (SELECT (extract(epoch FROM due_at - (SELECT now FROM moment)) * 1000000)::bigint \
             FROM job WHERE due_at > (SELECT now FROM moment) \
             ORDER BY due_at LIMIT 1) AS micros_to_next",
);

pub(super) struct Ringer {
    post: Arc<Post>,
    line: Line,
    clock: Clock,
}

/// Why there is no hearing any more.
#[derive(Debug, thiserror::Error)]
enum Deaf {
    #[error(transparent)]
    Unreachable(#[from] NoConnection),
    #[error(transparent)]
    Database(#[from] Error),
    #[error("the database took too long")]
    Silence(#[from] tokio::time::error::Elapsed),
    #[error("the connection ended")]
    Ended,
}

impl Ringer {
    pub(super) fn new(post: Arc<Post>, line: Line, clock: Clock) -> Self {
        Self { post, line, clock }
    }

    /// Goes on until it is aborted.
    pub(super) async fn run(self) {
        let mut pause = BACK_OFF_MIN;
        loop {
            let Err(error) = self.listen(&mut pause).await;
            tracing::warn!(error = &error as &dyn std::error::Error, "jobs are not heard of");
            sleep(pause.mul_f64(rand::random_range(0.5..1.0))).await;
            pause = (pause * 2).min(BACK_OFF_MAX);
        }
    }

    /// Listens on one connection for as long as that goes.
    async fn listen(&self, pause: &mut Duration) -> Result<Infallible, Deaf> {
        let post = self.post.clone();
        let opening = self.line.open(move |_| post.ring.notify_one());
        let Open { client, driver } = timeout(PATIENCE, opening).await??;
        // Ends with this set, and so with this task.
        let mut drivers = JoinSet::new();
        drivers.spawn(driver);
        timeout(PATIENCE, client.batch_execute(&format!("LISTEN {CHANNEL}"))).await??;
        let look = timeout(PATIENCE, client.prepare(LOOK.sql)).await??;
        *pause = BACK_OFF_MIN;
        // Nobody knows what was missed until here.
        self.post.look_at(Instant::now());
        loop {
            let Plan { waiting, next_look } = *self.post.plan();
            tokio::select! {
                _ = drivers.join_next() => return Err(Deaf::Ended),
                () = self.post.replanned.notified() => {}
                () = sleep_until(next_look), if waiting > 0 => {
                    timeout(PATIENCE, self.look(&client, &look)).await??;
                }
            }
        }
    }

    /// Wakes as many as there are jobs due, and plans the next look.
    async fn look(&self, client: &Client, look: &tokio_postgres::Statement) -> Result<(), Error> {
        // Before it is known what is due, so that what changes meanwhile counts.
        self.post.plan().next_look = Instant::now() + LOOK_MAX;
        let now = match &self.clock {
            Clock::System => None,
            clock @ Clock::Manual(_) => Some(clock.now()),
        };
        let row = client.query_one(look, &[&now]).await?;
        let due: i64 = row.try_get("due")?;
        for _ in 0..due {
            self.post.ring.notify_one();
        }
        if let Some(micros) = row.try_get::<_, Option<i64>>("micros_to_next")? {
            let wait = Duration::from_micros(micros.unsigned_abs());
            self.post.look_at(Instant::now() + wait.clamp(LOOK_MIN, LOOK_MAX));
        }
        Ok(())
    }
}
