//! Leases on jobs: they run by the database's clock, so that servers need not agree
//! on the time, and each has a fence, so that whoever lost one changes nothing.

use std::error::Error;
use std::iter::successors;
use std::time::Duration;

use uuid::Uuid;

use super::bell::CHANNEL;
use super::outcome::fail;
use super::rows::{digest_of, job_columns, job_if_any, key, later, micros, random_id};
use crate::domain::{Claim, Lease, Release};
use crate::store::StoreError;
use crate::store::postgres::db::{Db, Statement, column};

/// A row that another claim is looking at is passed over, not waited for. At most
/// one of each kind is locked, for as long as this takes.
pub(super) static CLAIM: Statement = Statement::writing(
    "jobs.claim",
    concat!(
        "WITH moment AS MATERIALIZED (SELECT coalesce($1::timestamptz, clock_timestamp()) AS now), \
         due AS MATERIALIZED ( \
             SELECT account_id, name_digest, due_at AS since FROM job \
             WHERE due_at <= (SELECT now FROM moment) \
             ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED), \
         late AS MATERIALIZED ( \
             SELECT account_id, name_digest, \
                 submitting_since + $4::bigint * interval '1 microsecond' AS since \
             FROM job \
             WHERE submitting_since \
                 <= (SELECT now FROM moment) - $4::bigint * interval '1 microsecond' \
             ORDER BY submitting_since LIMIT 1 FOR UPDATE SKIP LOCKED), \
         first AS MATERIALIZED ( \
             SELECT * FROM (SELECT *, 1 AS place FROM due \
                 UNION ALL SELECT *, 2 AS place FROM late) AS both_kinds \
             ORDER BY since, place LIMIT 1) \
         UPDATE job j SET setbacks = j.setbacks + (j.fence IS NOT NULL)::integer, fence = $2, \
             submitting_since = NULL, \
             due_at = moment.now + $3::bigint * interval '1 microsecond' \
         FROM first, moment \
         WHERE j.account_id = first.account_id AND j.name_digest = first.name_digest \
         RETURNING j.setbacks, ",
        job_columns!(),
    ),
);

pub(super) static RENEW: Statement = Statement::settling(
    "jobs.renew",
    "UPDATE job SET due_at = coalesce($4::timestamptz, clock_timestamp()) \
         + $5::bigint * interval '1 microsecond' \
     WHERE account_id = $1 AND name_digest = $2 AND fence = $3 \
     RETURNING true",
);

/// Rings only if the job is due at once; whoever waits for another one looks at
/// when it comes due.
pub(super) static RELEASE: Statement = Statement::settling(
    "jobs.release",
    concat!(
        "WITH moment AS MATERIALIZED (SELECT coalesce($4::timestamptz, clock_timestamp()) AS now) \
         UPDATE job j SET fence = NULL, \
             due_at = moment.now + $5::bigint * interval '1 microsecond', \
             setbacks = CASE $6::text WHEN 'setback' THEN j.setbacks + 1 \
                 WHEN 'leaving' THEN j.setbacks ELSE 0 END, \
             updated_at = CASE WHEN $6 = 'at_work' AND j.state = 'queued' THEN ",
        later!(),
        " ELSE j.updated_at END, \
             state = CASE WHEN $6 = 'at_work' AND j.state = 'queued' THEN 'in_progress' \
                 ELSE j.state END \
         FROM moment WHERE j.account_id = $1 AND j.name_digest = $2 AND j.fence = $3 \
         RETURNING CASE WHEN $5::bigint <= 0 THEN pg_notify($7, '')::text END",
    ),
);

pub(super) async fn claim(
    db: &Db,
    lasting: Duration,
    submit_limit: Duration,
) -> Result<Option<Claim>, StoreError> {
    let (lasting, submit_limit) = (micros(lasting), micros(submit_limit));
    loop {
        let fence = random_id();
        let rows = db.rows(&CLAIM, &[&db.now(), &fence, &lasting, &submit_limit]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let lease = Lease { job: key(row)?, fence: fence.as_u128() };
        let error = match job_if_any(row) {
            Ok(Some(job)) => {
                let setbacks = column::<i32>(row, "setbacks")?.unsigned_abs();
                return Ok(Some(Claim { lease, job, setbacks }));
            }
            Ok(None) => return Ok(None),
            Err(error) => error,
        };
        // Left as it is, it would be due again after each lease, ahead of all younger jobs.
        let causes = successors(Some(&error as &dyn Error), |error| (**error).source());
        let cause = causes.map(|error| error.to_string()).collect::<Vec<_>>().join(": ");
        tracing::error!(job = ?lease.job, cause, "a stored job cannot be read and is failed");
        match fail(db, &lease, UNREADABLE).await {
            Ok(()) | Err(StoreError::LeaseLost) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Why a job has failed whose row does not decode.
const UNREADABLE: &str = "the stored request cannot be read";

pub(super) async fn renew(db: &Db, lease: &Lease, lasting: Duration) -> Result<(), StoreError> {
    let Held { account, name, fence } = Held::by(lease);
    let lasting = micros(lasting);
    held(&db.rows(&RENEW, &[&account, &&name[..], &fence, &db.now(), &lasting]).await?)
}

pub(super) async fn release(
    db: &Db,
    lease: &Lease,
    pause: Duration,
    outcome: Release,
) -> Result<(), StoreError> {
    let Held { account, name, fence } = Held::by(lease);
    let outcome = match outcome {
        Release::Waiting => "waiting",
        Release::InProgress => "at_work",
        Release::FailedAttempt => "setback",
        Release::Shutdown => "leaving",
    };
    let rows = db
        .rows(
            &RELEASE,
            &[&account, &&name[..], &fence, &db.now(), &micros(pause), &outcome, &CHANNEL],
        )
        .await?;
    held(&rows)
}

/// A lease as the database knows it.
pub(super) struct Held {
    pub(super) account: i64,
    pub(super) name: [u8; 32],
    pub(super) fence: Uuid,
}

impl Held {
    pub(super) fn by(lease: &Lease) -> Self {
        Self {
            account: lease.job.account.0,
            name: digest_of(&lease.job.client_job_id),
            fence: Uuid::from_u128(lease.fence),
        }
    }
}

/// A fenced statement has found its job, or the lease is lost.
pub(super) fn held<T>(rows: &[T]) -> Result<(), StoreError> {
    if rows.is_empty() { Err(StoreError::LeaseLost) } else { Ok(()) }
}
