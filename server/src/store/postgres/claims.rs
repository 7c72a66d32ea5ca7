//! Statements over the jobs of all accounts: the only ones that name no account.

use super::db::Statement;
use super::job_rows::job_columns;
use super::jobs::later;
use super::rows::now;

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&CLAIM, &FAIL_LATE, &DELETE_ENDED];

/// The accounts with jobs that have not ended, from the one after `$4` on, are walked by one probe
/// of an index each, up to the first that has a job due. Rows that another claim has locked are
/// skipped.
pub(super) static CLAIM: Statement = Statement::non_idempotent(
    "jobs.claim",
    concat!(
        "WITH RECURSIVE turn (round, account_id) AS ( \
             SELECT 0, $4::bigint \
             UNION ALL \
             SELECT next.round, next.account_id FROM turn CROSS JOIN LATERAL ( \
                 (SELECT turn.round, j.account_id FROM job j \
                     WHERE j.due_at IS NOT NULL AND j.account_id > turn.account_id \
                     ORDER BY j.account_id, j.due_at LIMIT 1) \
                 UNION ALL \
                 (SELECT 1, j.account_id FROM job j \
                     WHERE j.due_at IS NOT NULL AND j.account_id > 0 AND turn.round = 0 \
                     ORDER BY j.account_id, j.due_at LIMIT 1) \
                 LIMIT 1) AS next \
             WHERE next.round = 0 OR next.account_id <= $4), \
         due AS MATERIALIZED ( \
             SELECT first.* FROM turn CROSS JOIN LATERAL ( \
                 SELECT j.account_id, j.name_digest, j.due_at FROM job j \
                 WHERE j.due_at IS NOT NULL AND j.account_id >= turn.account_id \
                     AND (j.account_id, j.due_at) \
                         <= (turn.account_id, ",
        now!("$1"),
        ") \
                 ORDER BY j.account_id, j.due_at LIMIT 1 FOR UPDATE SKIP LOCKED) AS first \
             WHERE turn.account_id <> ALL ($5::bigint[]) \
                 AND (turn.round = 1 OR turn.account_id > $4) \
             LIMIT 1) \
         UPDATE job j SET setbacks = j.setbacks + (j.fence IS NOT NULL)::integer, fence = $2, \
             due_at = ",
        now!("$1"),
        " + $3::bigint * interval '1 microsecond' \
         FROM due \
         WHERE j.account_id = due.account_id AND j.name_digest = due.name_digest \
         RETURNING j.setbacks, \
             (extract(epoch FROM ",
        now!("$1"),
        " - due.due_at) * 1000000)::bigint AS overdue, ",
        job_columns!(),
    ),
);

/// Rows that another server fails at the same time are skipped.
pub(super) static FAIL_LATE: Statement = Statement::idempotent(
    "jobs.fail_late",
    concat!(
        "WITH late AS MATERIALIZED ( \
             SELECT account_id, name_digest FROM job WHERE submitting_since <= ",
        now!("$1"),
        " - $2::bigint * interval '1 microsecond' \
             ORDER BY submitting_since LIMIT $3 FOR UPDATE SKIP LOCKED) \
         UPDATE job j SET state = 'failed', reason = $4, submitting_since = NULL, updated_at = ",
        later!("$1"),
        " FROM late \
         WHERE j.account_id = late.account_id AND j.name_digest = late.name_digest \
         RETURNING j.account_id, j.client_job_id",
    ),
);

pub(super) static DELETE_ENDED: Statement = Statement::idempotent(
    "jobs.delete_ended",
    concat!(
        "WITH old AS MATERIALIZED ( \
             SELECT account_id, name_digest FROM job \
             WHERE state IN ('completed', 'failed') AND updated_at <= ",
        now!("$1"),
        " - $2::bigint * interval '1 microsecond' \
             ORDER BY updated_at LIMIT $3 FOR UPDATE SKIP LOCKED) \
         DELETE FROM job j USING old \
         WHERE j.account_id = old.account_id AND j.name_digest = old.name_digest \
         RETURNING true",
    ),
);
