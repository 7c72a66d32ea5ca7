//! Changes of prompts. The parent module explains the order of locks and CTEs that lock.

use super::prelude::*;
use super::vaults::{COUNT, LOCK_VAULTS, PUT};
use crate::limits::PROMPT_IMAGES_MAX;

statements! {
    /// Before a statement about the memberships of the prompt `$3`: nothing adds one meanwhile.
    idempotent LOCK_PROMPT "prompts.lock_prompt"
        "SELECT FROM prompt p WHERE p.account_id = $1 AND p.id = $3 AND {KEY_IS_VALID} FOR UPDATE";
    /// After locks on the prompt `$3` and the vault `$15`, into which it is put. NULL leaves a
    /// column as it is; `$6` says that the platform becomes `$7`, `$13` that the update needs a
    /// model and brings none. `$12` is the time of an update, NULL if the prompt only comes into
    /// the vault. `$16` is a picture to add unless there are `$17`. `has_model` is NULL without
    /// such a prompt.
    non_idempotent UPDATE "prompts.update"
        "{CALLER}, target AS (
             SELECT v.id FROM vault v WHERE v.account_id = $1 AND v.id = $15
         ), saved AS (
             UPDATE prompt p SET
                 title = coalesce($4, p.title),
                 body = coalesce($5, p.body),
                 platform = CASE WHEN $6::boolean THEN $7 ELSE p.platform END,
                 model_id = coalesce($8, p.model_id),
                 aspect_ratio = coalesce($9, p.aspect_ratio),
                 image_url = coalesce($10, p.image_url),
                 reference_media_urls = coalesce($11, p.reference_media_urls),
                 kind = coalesce($14, p.kind),
                 images = CASE WHEN $16::jsonb IS NULL THEN p.images ELSE p.images || $16 END,
                 updated_at = CASE WHEN $12::timestamptz IS NULL THEN p.updated_at ELSE {later} END
             WHERE p.account_id = $1 AND p.id = $3
                 AND (NOT $13::boolean OR p.model_id IS NOT NULL)
                 AND ($15::bigint IS NULL OR EXISTS (SELECT FROM target))
                 AND ($16::jsonb IS NULL OR jsonb_array_length(p.images) < $17::bigint)
                 AND {KEY_IS_VALID}
             RETURNING p.*
         ), retyped AS (
             UPDATE vault_prompt m SET kind = saved.kind FROM saved
             WHERE m.account_id = $1 AND m.prompt_id = $3 AND m.kind <> saved.kind
         )
         SELECT {PROMPT_COLUMNS}, target.id AS vault,
             (SELECT before.model_id IS NOT NULL FROM prompt before
              WHERE before.account_id = $1 AND before.id = $3) AS has_model
         FROM caller LEFT JOIN saved p ON true LEFT JOIN target ON true"
        { later = later!("$12", "p.updated_at") };
    /// The vaults are locked first, for their counts. If the prompt came into another vault
    /// meanwhile, that membership violates its foreign key, and the statement is sent again.
    pub(super) non_idempotent DELETE "prompts.delete"
        "{CALLER}, locked_vaults AS MATERIALIZED (
             SELECT v.id FROM vault_prompt m
             JOIN vault v ON v.account_id = $1 AND v.id = m.vault_id
             WHERE m.account_id = $1 AND m.prompt_id = $3 AND {KEY_IS_VALID}
             ORDER BY v.id FOR NO KEY UPDATE OF v
         ), locked AS MATERIALIZED (
             SELECT p.id FROM prompt p
             WHERE p.account_id = $1 AND p.id = $3 AND (SELECT count(*) FROM locked_vaults) >= 0
                 AND {KEY_IS_VALID}
             FOR UPDATE
         ), removed AS (
             DELETE FROM vault_prompt m USING locked
             WHERE m.account_id = $1 AND m.prompt_id = locked.id
             RETURNING m.vault_id
         ), in_count AS (
             UPDATE vault v SET prompt_count = v.prompt_count - 1
             FROM removed WHERE v.account_id = $1 AND v.id = removed.vault_id
         ), deleted AS (
             DELETE FROM prompt p USING locked
             WHERE p.account_id = $1 AND p.id = locked.id
                 AND (SELECT count(*) FROM removed) >= 0
             RETURNING p.id
         )
         SELECT deleted.id FROM caller LEFT JOIN deleted ON true";
}

impl PostgresStore {
    /// Changes a prompt, at this time unless it only comes into a vault.
    pub(super) async fn change(
        &self,
        caller: &Caller,
        id: PromptId,
        patch: PromptPatch,
        now: Option<Timestamp>,
    ) -> Result<SharedPrompt> {
        let PromptPatch { title, text, platform, kind, inputs, vault, image } = &patch;
        let (id, vaults) = (id.get(), Vec::from_iter(vault.map(VaultId::get)));
        let lacks_model = kind.is_some_and(PromptKind::needs_model) && inputs.model_id.is_none();
        let params: Params<'_> = &[
            &id,
            &title.as_deref(),
            &text.as_deref(),
            &platform.is_some(),
            &platform.as_ref().and_then(Option::as_deref),
            &inputs.model_id.as_deref(),
            &inputs.aspect_ratio.as_deref(),
            &inputs.image_url,
            &inputs.reference_media_urls.as_deref(),
            &now,
            &lacks_model,
            &kind.map(PromptKind::as_str),
            &vaults.first(),
            &image.as_ref().map(|image| Json([image])),
            &int(PROMPT_IMAGES_MAX),
        ];
        let (ids, limit) = (vec![id], image.as_ref().map(|_| int(PROMPT_IMAGES_MAX)));
        let put: Params<'_> = &[&vaults.first(), &ids, &false, &lacks_model, &limit];
        let steps: [Step<'_>; 5] = [
            (&LOCK_VAULTS, &[&vaults]),
            (&LOCK_PROMPT, &[&id]),
            (&COUNT, put),
            (&PUT, put),
            (&UPDATE, params),
        ];
        let without_vault = [steps[1], steps[4]];
        let steps = if vaults.is_empty() { &without_vault[..] } else { &steps };
        let row = self.db.row_of_steps(By::Caller(caller), steps).await?;
        if let Some(prompt) = rows::prompt(&row)? {
            return Ok(prompt);
        }
        let target: Option<i64> = column(&row, "vault")?;
        Err(match column::<Option<bool>>(&row, "has_model")? {
            Some(_) if vault.is_some() && target.is_none() => StoreError::UnknownVault,
            Some(false) if lacks_model => StoreError::ModelRequired,
            Some(_) if image.is_some() => StoreError::TooManyImages,
            _ => StoreError::NotFound,
        })
    }
}
