//! The end of a job: well or badly, once, and only by whoever holds the lease.

use promptarium::{PromptId, VaultId};
use serde::Serialize;
use tokio_postgres::types::Json;

use super::lease::{Held, held};
use super::rows::later;
use crate::domain::{GenerationRequest, Lease, PromptImage, output_prompt};
use crate::store::StoreError;
use crate::store::postgres::db::{Db, Statement, column};

/// What the provider never took has no output, and so is not found here.
pub(super) static ORDER: Statement = Statement::reading(
    "jobs.order",
    "SELECT job_order FROM job \
     WHERE account_id = $1 AND name_digest = $2 AND fence = $3 \
         AND state IN ('queued', 'in_progress')",
);

/// The job is locked first: of two ends at once, the second finds no fence. Then
/// the vault, so that it stays until the prompt is in it; one that is deleted at
/// this moment is waited for, and then passed over.
pub(super) static COMPLETE: Statement = Statement::settling(
    "jobs.complete",
    concat!(
        "WITH moment AS MATERIALIZED (SELECT coalesce($4::timestamptz, clock_timestamp()) AS now), \
         held AS MATERIALIZED ( \
             SELECT account_id, name_digest, vault_id FROM job \
             WHERE account_id = $1 AND name_digest = $2 AND fence = $3 \
                 AND state IN ('queued', 'in_progress') \
             FOR UPDATE), \
         home AS MATERIALIZED ( \
             SELECT v.account_id, v.id FROM held \
             JOIN account ON account.id = held.account_id \
             JOIN vault v ON v.account_id = held.account_id \
                 AND v.id IN (held.vault_id, account.general_vault_id) \
             ORDER BY v.id = held.vault_id DESC LIMIT 1 FOR KEY SHARE OF v), \
         made AS ( \
             INSERT INTO prompt (account_id, kind, title, body, platform, model_id, aspect_ratio, \
                 image_url, reference_media_urls, images, created_at, updated_at) \
             SELECT account_id, $5, $6, $7, $8, $9, $10, $11, $12, $13, now, now \
             FROM home, moment \
             RETURNING account_id, id, kind), \
         joined AS ( \
             INSERT INTO membership (account_id, vault_id, prompt_id, kind) \
             SELECT made.account_id, home.id, made.id, made.kind FROM made, home), \
         ended AS ( \
             UPDATE job j SET state = 'completed', prompt_id = made.id, vault_id = home.id, \
                 due_at = NULL, fence = NULL, updated_at = ",
        later!(),
        " FROM held, home, made, moment \
             WHERE j.account_id = held.account_id AND j.name_digest = held.name_digest) \
         SELECT made.id FROM held LEFT JOIN made ON true",
    ),
);

pub(super) static FAIL: Statement = Statement::settling(
    "jobs.fail",
    concat!(
        "WITH moment AS MATERIALIZED (SELECT coalesce($4::timestamptz, clock_timestamp()) AS now) \
         UPDATE job j SET state = 'failed', reason = $5, due_at = NULL, fence = NULL, \
             updated_at = ",
        later!(),
        " FROM moment WHERE j.account_id = $1 AND j.name_digest = $2 AND j.fence = $3 \
         RETURNING true",
    ),
);

/// A picture as it is kept in `prompt.images`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Image<'a> {
    url: &'a str,
    width: u32,
    height: u32,
    created_at: i64,
}

/// The order never changes, so it may be read in a step before.
pub(super) async fn complete(
    db: &Db,
    lease: &Lease,
    images: &[PromptImage],
) -> Result<PromptId, StoreError> {
    let Held { account, name, fence } = Held::by(lease);
    let rows = db.rows(&ORDER, &[&account, &&name[..], &fence]).await?;
    let row = rows.first().ok_or(StoreError::LeaseLost)?;
    let Json(order) = column::<Json<GenerationRequest>>(row, "job_order")?;
    // Which vault it is going to be is for the statement to find out.
    let prompt = output_prompt(&order, VaultId::new(0));
    let inputs = &prompt.inputs;
    let media = inputs.reference_media_urls.as_deref();
    let rows = db
        .rows(
            &COMPLETE,
            &[
                &account,
                &&name[..],
                &fence,
                &db.now(),
                &prompt.kind.as_str(),
                &&*prompt.title,
                &&*prompt.text,
                &prompt.platform.as_deref(),
                &inputs.model_id.as_deref(),
                &inputs.aspect_ratio.as_deref(),
                &inputs.image_url.as_deref(),
                &media.map(|urls| urls.iter().map(|url| &**url).collect::<Vec<_>>()),
                &Json(images.iter().map(kept).collect::<Vec<_>>()),
            ],
        )
        .await?;
    let row = rows.first().ok_or(StoreError::LeaseLost)?;
    let prompt: Option<i64> = column(row, "id")?;
    prompt.map(PromptId::new).ok_or(StoreError::UnknownVault)
}

pub(super) async fn fail(db: &Db, lease: &Lease, reason: &str) -> Result<(), StoreError> {
    let Held { account, name, fence } = Held::by(lease);
    held(&db.rows(&FAIL, &[&account, &&name[..], &fence, &db.now(), &reason]).await?)
}

fn kept(PromptImage { url, width, height, created_at }: &PromptImage) -> Image<'_> {
    Image { url, width: *width, height: *height, created_at: created_at.as_microsecond() }
}
