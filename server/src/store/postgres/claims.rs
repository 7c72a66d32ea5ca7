//! What workers look for in the jobs of all accounts, and what they do with what they find.
//!
//! A row of `due_job` tells which job may be claimed, or may be late. The job itself is then
//! changed by a statement of its account, which checks that this is still so.

use const_format::formatcp;

use super::db::Statement;
use super::job_rows::{JOB_COLUMNS, LEAVE_QUEUE};
use super::rows::later;

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&NEXT, &CLAIM, &LATE, &FAIL_LATE, &ENDED, &DELETE_ENDED];

/// Looks through the accounts with jobs that have not ended, beginning after `$3`, with one probe of
/// an index for each, and takes the first due job. Until `$2` no other claim takes that job. Rows
/// that another claim has locked are skipped.
pub(super) static NEXT: Statement = Statement::non_idempotent(
    "jobs.next",
    "WITH RECURSIVE turn (round, account_id) AS (
             SELECT 0, $3::bigint
             UNION ALL
             SELECT next.round, next.account_id FROM turn CROSS JOIN LATERAL (
                 (SELECT turn.round, d.account_id FROM due_job d
                     WHERE NOT d.submitting AND d.account_id > turn.account_id
                     ORDER BY d.account_id, d.due_at LIMIT 1)
                 UNION ALL
                 (SELECT 1, d.account_id FROM due_job d
                     WHERE NOT d.submitting AND d.account_id > 0 AND turn.round = 0
                     ORDER BY d.account_id, d.due_at LIMIT 1)
                 LIMIT 1) AS next
             WHERE next.round = 0 OR next.account_id <= $3),
         due AS MATERIALIZED (
             SELECT first.* FROM turn CROSS JOIN LATERAL (
                 SELECT d.account_id, d.name_digest, d.due_at FROM due_job d
                 WHERE NOT d.submitting AND d.account_id >= turn.account_id
                     AND (d.account_id, d.due_at) <= (turn.account_id, $1)
                 ORDER BY d.account_id, d.due_at LIMIT 1 FOR UPDATE SKIP LOCKED) AS first
             WHERE turn.account_id <> ALL ($4::bigint[])
                 AND (turn.round = 1 OR turn.account_id > $3)
             LIMIT 1)
         UPDATE due_job d SET due_at = $2
         FROM due WHERE d.account_id = due.account_id AND d.name_digest = due.name_digest
         RETURNING d.account_id, d.name_digest, due.due_at",
);

/// Claims the job that [`NEXT`] has found until `$4`, unless it has changed since. One that another
/// statement has locked, as at its end, is left.
pub(super) static CLAIM: Statement = Statement::non_idempotent(
    "jobs.claim",
    formatcp!(
        "WITH due AS MATERIALIZED (
             SELECT j.name_digest FROM job j
             WHERE j.account_id = $1 AND j.name_digest = $2 AND j.claimable_at <= $5
             FOR UPDATE SKIP LOCKED),
         in_queue AS (
             UPDATE due_job d SET due_at = $4 FROM due
             WHERE d.account_id = $1 AND d.name_digest = due.name_digest)
         UPDATE job j SET fence = $3, claimable_at = $4,
             failed_attempts = j.failed_attempts + (j.fence IS NOT NULL)::integer,
             failing_since = CASE WHEN j.fence IS NULL THEN j.failing_since
                 ELSE coalesce(j.failing_since, $5) END
         FROM due WHERE j.account_id = $1 AND j.name_digest = due.name_digest
         RETURNING j.failed_attempts, j.failing_since, {JOB_COLUMNS}"
    ),
);

pub(super) static LATE: Statement = Statement::read_only(
    "jobs.late",
    "SELECT d.account_id, d.name_digest FROM due_job d
         WHERE d.submitting AND d.due_at <= $1
         ORDER BY d.due_at LIMIT $2",
);

/// Of the jobs `$2` of an account, those that are late still.
pub(super) static FAIL_LATE: Statement = Statement::idempotent(
    "jobs.fail_late",
    formatcp!(
        "WITH ended AS (
             UPDATE job j
             SET state = 'failed', reason = $5, reserved_at = NULL, updated_at = {later}
             WHERE j.account_id = $1 AND j.name_digest = ANY ($2::bytea[]) AND j.reserved_at <= $3
             RETURNING j.account_id, j.name_digest, j.client_job_id
         ), {LEAVE_QUEUE}
         SELECT account_id, client_job_id FROM ended",
        later = later!("$4", "j.updated_at")
    ),
);

pub(super) static ENDED: Statement = Statement::read_only(
    "jobs.ended",
    "SELECT j.account_id, j.name_digest FROM job j
         WHERE j.state IN ('completed', 'failed') AND j.updated_at <= $1
         ORDER BY j.updated_at LIMIT $2",
);

/// Of the jobs `$2` of an account, those that ended long ago still.
pub(super) static DELETE_ENDED: Statement = Statement::idempotent(
    "jobs.delete_ended",
    "DELETE FROM job j
         WHERE j.account_id = $1 AND j.name_digest = ANY ($2::bytea[])
             AND j.state IN ('completed', 'failed') AND j.updated_at <= $3
         RETURNING true",
);
