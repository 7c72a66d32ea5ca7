//! Generation jobs: submission and status. No transaction is open while a provider works.

use std::collections::BTreeMap;

use super::listing::AHEAD;
use super::prelude::*;
use crate::limits::JOBS_AT_ONCE;

/// The CTE that writes the row of `due_job` for the job in `queued`: due when it may be claimed, or
/// while it is being submitted, late when that takes too long.
pub(super) const IN_QUEUE: &str = "due AS (
    INSERT INTO due_job (account_id, name_digest, submitting, due_at)
    SELECT $1, queued.name_digest, queued.claimable_at IS NULL,
        coalesce(queued.claimable_at, queued.reserved_at) FROM queued
    ON CONFLICT (account_id, name_digest) DO UPDATE
        SET submitting = excluded.submitting, due_at = excluded.due_at
)";

/// The CTE that removes the rows of the jobs in `ended`.
pub(super) const LEAVE_QUEUE: &str = "not_due AS (
    DELETE FROM due_job d USING ended
    WHERE d.account_id = $1 AND d.name_digest = ended.name_digest
)";

/// The columns that [`job_or_none`] reads, of a table or subquery `j`.
pub(super) const JOB_COLUMNS: &str =
    "j.account_id, j.client_job_id, j.request, j.vault_id, j.state, j.request_id,
    j.provider_state, j.prompt_id, j.reason, j.waits_for, j.created_at, j.updated_at";

statements! {
    /// Of two at once one violates the primary key, is retried, and finds the other's row. A
    /// retried one recognises its own row by the reservation.
    idempotent RESERVE "jobs.reserve"
        "{CALLER}, existing AS (
             SELECT j.* FROM caller JOIN job j ON j.account_id = $1 AND j.name_digest = $4),
         created AS (
             INSERT INTO job (account_id, name_digest, client_job_id, request_digest, request,
                 vault_id, reservation, state, reserved_at, created_at, updated_at)
             SELECT $1, $4, $5, $6, $7, v.id, $9, 'submitting', $3, $3, $3
             FROM caller JOIN vault v ON v.account_id = $1 AND v.id = coalesce($8::bigint,
                 (SELECT g.id FROM vault g WHERE g.account_id = $1 AND g.system))
             WHERE NOT EXISTS (SELECT FROM existing)
             RETURNING *),
         queued AS (SELECT name_digest, claimable_at, reserved_at FROM created), {IN_QUEUE}
         SELECT j.request_digest, j.reservation = $9 AND j.reserved_at IS NOT NULL AS fresh,
             {JOB_COLUMNS}
         FROM caller LEFT JOIN (TABLE existing UNION ALL TABLE created) AS j ON true";
    non_idempotent SUBMITTED "jobs.submitted"
        "WITH queued AS (
             UPDATE job j SET state = 'queued', request_id = $4, provider_state = $5,
                 reason = NULL, fence = NULL, reserved_at = NULL, claimable_at = $3,
                 updated_at = {later}
             WHERE j.account_id = $1 AND j.name_digest = $2 AND j.request_id IS NULL
             RETURNING j.*
         ), {IN_QUEUE}
         SELECT {JOB_COLUMNS} FROM queued j"
        { later = later!("$3", "j.updated_at") };
    idempotent DISCARD "jobs.discard"
        "WITH ended AS (
             DELETE FROM job j
             WHERE j.account_id = $1 AND j.name_digest = $2 AND j.state = 'submitting'
             RETURNING j.name_digest), {LEAVE_QUEUE}
         SELECT FROM ended";
    /// Fails those of the jobs `$2` of an account that are being submitted since `$3` or longer.
    pub(super) non_idempotent LOST "jobs.lost"
        "WITH ended AS (
             UPDATE job j SET state = 'failed', reason = $5, reserved_at = NULL, updated_at = {later}
             WHERE j.account_id = $1 AND j.name_digest = ANY ($2::bytea[]) AND j.reserved_at <= $3
             RETURNING j.*, '[]'::jsonb AS images), {LEAVE_QUEUE}, {EVENTS}
         SELECT {JOB_COLUMNS} FROM ended j"
        { later = later!("$4", "j.updated_at") };
    read_only GET "jobs.get"
        "{CALLER} SELECT {JOB_COLUMNS} FROM caller LEFT JOIN job j
         ON j.account_id = $1 AND j.name_digest = $3 AND j.state <> 'submitting'";
    /// One row of NULLs if there is none. The page begins after the job `$3`. `OFFSET 0` keeps the
    /// state of that job out of the subquery: otherwise an index of all jobs could be read.
    read_only LIST "jobs.list"
        "{CALLER}, before AS (SELECT b.created_at, b.name_digest FROM caller CROSS JOIN LATERAL (
                 SELECT created_at, name_digest, state FROM job
                 WHERE account_id = $1 AND name_digest = $3 OFFSET 0) b
             WHERE b.state <> 'submitting')
         SELECT EXISTS (SELECT FROM before) AS begins, {JOB_COLUMNS} FROM caller
         LEFT JOIN LATERAL (
             SELECT one.* FROM (SELECT name_digest FROM (
                     SELECT created_at, name_digest FROM job
                     WHERE account_id = $1 AND state <> 'submitting'
                         AND (created_at, name_digest) < (
                             coalesce((SELECT created_at FROM before), 'infinity'),
                             coalesce((SELECT name_digest FROM before), ''))
                     ORDER BY created_at DESC, name_digest DESC LIMIT {AHEAD}) ahead LIMIT $4
             ) page CROSS JOIN LATERAL (SELECT * FROM job
                 WHERE account_id = $1 AND name_digest = page.name_digest OFFSET 0
             ) one
         ) j ON true
         ORDER BY j.created_at DESC, j.name_digest DESC";
    read_only GET_BY_KEY "jobs.get_by_key"
        "SELECT {JOB_COLUMNS} FROM job j WHERE j.account_id = $1 AND j.name_digest = $2";
}

#[async_trait]
impl JobStore for PostgresStore {
    async fn reserve_job(&self, caller: &Caller, new: NewJob) -> Result<Reserved> {
        let NewJob { client_job_id, digest, request, vault } = new;
        let (name, reservation) = (JobKey::name_digest(&client_job_id), Uuid::new_v4());
        let vault = vault.map(VaultId::get);
        let params: Params<'_> = &[
            &self.db.now(),
            &&name[..],
            &&*client_job_id,
            &&digest[..],
            &Json(&*request),
            &vault,
            &reservation,
        ];
        let row = self.db.row_of_caller(caller, &RESERVE, params).await?;
        let job = job_or_none(&row)?.ok_or(StoreError::UnknownVault)?;
        if column::<&[u8]>(&row, "request_digest")? != digest {
            return Err(StoreError::JobConflict);
        }
        Ok(if column(&row, "fresh")? { Reserved::New(job) } else { Reserved::Existing(job) })
    }

    async fn job_submitted(&self, job: &JobKey, ticket: ProviderTicket) -> Result<JobRecord> {
        let (request_id, state) = (&*ticket.request_id, &*ticket.provider_state);
        let params: Params<'_> = &[&self.db.now(), &request_id, &state];
        let job = first_job(&rows_of_job(&self.db, &SUBMITTED, job, params).await?)?;
        self.jobs_changed.notify_one();
        Ok(job)
    }

    async fn discard_job(&self, job: &JobKey) -> Result<()> {
        rows_of_job(&self.db, &DISCARD, job, &[]).await.map(drop)
    }

    async fn job_lost(&self, job: &JobKey, reason: &str) -> Result<JobRecord> {
        let names = vec![JobKey::name_digest(&job.client_job_id).to_vec()];
        let (ever, now) = (Timestamp::MAX, self.db.now());
        let params: Params<'_> = &[&job.account.0, &names, &ever, &now, &reason];
        let job = first_job(&self.db.rows(By::Server, &[(&LOST, params)]).await?);
        self.deliveries_changed.notify_one();
        job
    }

    async fn job(&self, caller: &Caller, client_job_id: &str) -> Result<JobRecord> {
        let name = JobKey::name_digest(client_job_id);
        let row = self.db.row_of_caller(caller, &GET, &[&&name[..]]).await?;
        job_or_none(&row)?.ok_or(StoreError::NotFound)
    }

    async fn jobs(
        &self,
        caller: &Caller,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<JobRecord>> {
        let name = before.map(JobKey::name_digest);
        let params: Params<'_> = &[&name.as_ref().map(|name| &name[..]), &int(limit)];
        let rows = self.db.rows(By::List(caller, limit), &[(&LIST, params)]).await?;
        let begins = rows.first().map_or(Ok(false), |row| column(row, "begins"))?;
        if before.is_some() && !begins {
            return Err(StoreError::NotFound);
        }
        all(&rows, job_or_none)
    }

    async fn job_by_key(&self, job: &JobKey) -> Result<JobRecord> {
        first_job(&rows_of_job(&self.db, &GET_BY_KEY, job, &[]).await?)
    }
}

/// Runs a statement whose first parameters are the account and the name of a job.
pub(super) async fn rows_of_job(
    db: &Db,
    statement: &'static Statement,
    job: &JobKey,
    params: Params<'_>,
) -> Result<Vec<Row>> {
    let name = &JobKey::name_digest(&job.client_job_id)[..];
    let params = [&[&job.account.0 as _, &name as _], params].concat();
    db.rows(By::Server, &[(statement, &params)]).await
}

/// Changes the jobs that `search` finds until this time, account by account. `change` has account,
/// names and time before the other parameters.
pub(super) async fn change_found(
    db: &Db,
    search: &Statement,
    change: &Statement,
    until: Timestamp,
    params: Params<'_>,
) -> Result<Vec<Row>> {
    let found = db.rows(By::Server, &[(search, &[&until, &int(JOBS_AT_ONCE)])]).await?;
    let mut accounts: BTreeMap<i64, Vec<&[u8]>> = BTreeMap::new();
    for row in &found {
        let names = accounts.entry(column(row, "account_id")?).or_default();
        names.push(column(row, "name_digest")?);
    }
    let mut changed = Vec::new();
    for (account, names) in &accounts {
        let params = [&[account as _, names as _, &until as _], params].concat();
        changed.extend(db.rows(By::Server, &[(change, &params)]).await?);
    }
    Ok(changed)
}

pub(super) fn first_job(rows: &[Row]) -> Result<JobRecord> {
    all(rows, job_or_none)?.pop().ok_or(StoreError::NotFound)
}

/// The key of the job in a row of [`JOB_COLUMNS`].
pub(super) fn job_key(row: &Row) -> Result<JobKey> {
    let client_job_id = column::<&str>(row, "client_job_id")?.into();
    Ok(JobKey { account: AccountId(column(row, "account_id")?), client_job_id })
}

/// The job in a row of [`JOB_COLUMNS`]; `None` where an outer join found none.
fn job_or_none(row: &Row) -> Result<Option<JobRecord>> {
    if column::<Option<i64>>(row, "account_id")?.is_none() {
        return Ok(None);
    }
    let state = job_state(row)?;
    let ended = matches!(state, JobState::Completed(..) | JobState::Failed(..));
    let request = match column::<Json<GenerationRequest>>(row, "request") {
        Ok(Json(request)) => request,
        // Nothing is created from the request of an ended job, and its status must be shown.
        Err(_) if ended => GenerationRequest::default(),
        Err(error) => return Err(error),
    };
    Ok(Some(JobRecord {
        key: job_key(row)?,
        request: Arc::new(request),
        vault: VaultId::new(column(row, "vault_id")?),
        state,
        waits_for: column::<Option<&str>>(row, "waits_for")?.map(Into::into),
        created_at: column(row, "created_at")?,
        updated_at: column(row, "updated_at")?,
    }))
}

fn job_state(row: &Row) -> Result<JobState> {
    let request_id: Option<&str> = column(row, "request_id")?;
    let provider_state: Option<&str> = column(row, "provider_state")?;
    let ticket = request_id.zip(provider_state).map(|(request_id, state)| ProviderTicket {
        request_id: request_id.into(),
        provider_state: state.into(),
    });
    let prompt: Option<i64> = column(row, "prompt_id")?;
    let reason: Option<&str> = column(row, "reason")?;
    Ok(match (column(row, "state")?, ticket, prompt, reason) {
        ("submitting", None, None, None) => JobState::Submitting,
        ("queued", Some(ticket), None, None) => JobState::Queued(ticket),
        ("in_progress", Some(ticket), None, None) => JobState::InProgress(ticket),
        ("completed", Some(ticket), Some(prompt), None) => {
            JobState::Completed(ticket, PromptId::new(prompt))
        }
        ("failed", ticket, None, Some(reason)) => JobState::Failed(ticket, reason.into()),
        (state, ..) => {
            let error = format!("a job in state {state:?} has columns of another state");
            return Err(StoreError::Internal(error.into()));
        }
    })
}
