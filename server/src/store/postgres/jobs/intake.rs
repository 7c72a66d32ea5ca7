//! Taking a job on: its name is taken, and then the provider has its say.

use promptarium::VaultId;
use serde_json::value::{RawValue, to_raw_value};
use tokio_postgres::types::Json;

use super::bell::CHANNEL;
use super::rows::{digest_of, job, job_columns, job_if_any, later, random_id};
use crate::domain::{
    Caller, GenerationRequest, JobKey, JobRecord, NewJob, ProviderTicket, Reserved,
};
use crate::store::StoreError;
use crate::store::postgres::caller::caller;
use crate::store::postgres::db::{Db, Statement, column};

/// Of two at once, one breaks the primary key, begins again, and finds the other's.
/// Sent twice, it knows its own job by the reservation.
pub(super) static RESERVE: Statement = Statement::settling(
    "jobs.reserve",
    concat!(
        "WITH caller AS ",
        caller!(),
        ", moment AS MATERIALIZED (SELECT coalesce($2::timestamptz, clock_timestamp()) AS now), \
         there AS ( \
             SELECT j.* FROM caller JOIN job j ON j.account_id = caller.account_id \
             WHERE j.name_digest = $3), \
         made AS ( \
             INSERT INTO job (account_id, name_digest, client_job_id, request_digest, job_order, \
                 vault_id, reservation, state, submitting_since, created_at, updated_at) \
             SELECT v.account_id, $3, $4, $5, $6, v.id, $8, 'submitting', now, now, now \
             FROM moment, caller \
             JOIN account ON account.id = caller.account_id \
             JOIN vault v ON v.account_id = account.id \
                 AND v.id = coalesce($7::bigint, account.general_vault_id) \
             WHERE NOT EXISTS (SELECT FROM there) \
             RETURNING *) \
         SELECT j.request_digest, \
             j.reservation = $8 AND j.submitting_since IS NOT NULL AS fresh, ",
        job_columns!(),
        " FROM caller LEFT JOIN (TABLE there UNION ALL TABLE made) AS j ON true"
    ),
);

pub(super) static SUBMITTED: Statement = Statement::writing(
    "jobs.submitted",
    concat!(
        "WITH moment AS MATERIALIZED (SELECT coalesce($3::timestamptz, clock_timestamp()) AS now) \
         UPDATE job j SET state = 'queued', request_id = $4, memo = $5, fence = NULL, \
             submitting_since = NULL, due_at = moment.now, updated_at = ",
        later!(),
        " FROM moment \
         WHERE j.account_id = $1 AND j.name_digest = $2 AND j.state = 'submitting' \
         RETURNING pg_notify($6, ''), ",
        job_columns!(),
    ),
);

pub(super) static DISCARD: Statement = Statement::settling(
    "jobs.discard",
    "DELETE FROM job WHERE account_id = $1 AND name_digest = $2 AND state = 'submitting'",
);

pub(super) static LOST: Statement = Statement::writing(
    "jobs.lost",
    concat!(
        "WITH moment AS MATERIALIZED (SELECT coalesce($3::timestamptz, clock_timestamp()) AS now) \
         UPDATE job j SET state = 'failed', reason = $4, fence = NULL, submitting_since = NULL, \
             due_at = NULL, updated_at = ",
        later!(),
        " FROM moment \
         WHERE j.account_id = $1 AND j.name_digest = $2 AND j.state = 'submitting' \
         RETURNING ",
        job_columns!(),
    ),
);

pub(super) static GET: Statement = Statement::reading(
    "jobs.get",
    concat!(
        "WITH caller AS ",
        caller!(),
        " SELECT ",
        job_columns!(),
        " FROM caller LEFT JOIN job j \
         ON j.account_id = caller.account_id AND j.name_digest = $2 AND j.state <> 'submitting'"
    ),
);

pub(super) static GET_BY_KEY: Statement = Statement::reading(
    "jobs.get_by_key",
    concat!(
        "SELECT ",
        job_columns!(),
        " FROM job j WHERE j.account_id = $1 AND j.name_digest = $2"
    ),
);

pub(super) async fn reserve(
    db: &Db,
    caller: &Caller,
    new: &NewJob,
) -> Result<Reserved, StoreError> {
    let NewJob { client_job_id, digest, order, vault } = new;
    let (name, reservation) = (digest_of(client_job_id), random_id());
    let vault = vault.map(VaultId::get);
    let request = encode(order)?;
    let row = db
        .row_of_caller(
            &RESERVE,
            &[
                &caller.key.0,
                &db.now(),
                &&name[..],
                &&**client_job_id,
                &&digest[..],
                &Json(&*request),
                &vault,
                &reservation,
            ],
        )
        .await?;
    let job = job_if_any(&row)?.ok_or(StoreError::UnknownVault)?;
    if column::<&[u8]>(&row, "request_digest")? != digest {
        return Err(StoreError::JobConflict);
    }
    let fresh = column(&row, "fresh")?;
    Ok(if fresh { Reserved::New(job) } else { Reserved::Existing(job) })
}

/// The request as JSON that is known to read back: a row that cannot be read could never end.
fn encode(request: &GenerationRequest) -> Result<Box<RawValue>, StoreError> {
    let encoded = to_raw_value(request).map_err(|error| StoreError::Broken(error.into()))?;
    serde_json::from_str::<GenerationRequest>(encoded.get())
        .map_err(|error| StoreError::Broken(error.into()))?;
    Ok(encoded)
}

pub(super) async fn submitted(
    db: &Db,
    key: &JobKey,
    ticket: &ProviderTicket,
) -> Result<JobRecord, StoreError> {
    let name = digest_of(&key.client_job_id);
    let ProviderTicket { request_id, memo } = ticket;
    let rows = db
        .rows(
            &SUBMITTED,
            &[&key.account.0, &&name[..], &db.now(), &&**request_id, &&**memo, &CHANNEL],
        )
        .await?;
    job(&rows)
}

pub(super) async fn discard(db: &Db, key: &JobKey) -> Result<(), StoreError> {
    let name = digest_of(&key.client_job_id);
    db.rows(&DISCARD, &[&key.account.0, &&name[..]]).await.map(drop)
}

pub(super) async fn lost(db: &Db, key: &JobKey, reason: &str) -> Result<JobRecord, StoreError> {
    let name = digest_of(&key.client_job_id);
    job(&db.rows(&LOST, &[&key.account.0, &&name[..], &db.now(), &reason]).await?)
}

pub(super) async fn get(db: &Db, caller: &Caller, name: &str) -> Result<JobRecord, StoreError> {
    let row = db.row_of_caller(&GET, &[&caller.key.0, &&digest_of(name)[..]]).await?;
    job_if_any(&row)?.ok_or(StoreError::NotFound)
}

pub(super) async fn get_by_key(db: &Db, key: &JobKey) -> Result<JobRecord, StoreError> {
    let name = digest_of(&key.client_job_id);
    job(&db.rows(&GET_BY_KEY, &[&key.account.0, &&name[..]]).await?)
}
