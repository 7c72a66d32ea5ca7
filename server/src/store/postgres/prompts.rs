//! Prompts: creating and reading them. [`super::prompt_changes`] has the other changes.

use super::batching::only;
use super::prelude::*;
use super::prompt_changes::DELETE;

pub(super) type Created = (i64, Timestamp);

statements! {
    /// One plain insert takes 30 % less than [`CREATE_MANY`] of one.
    pipelined CREATE "prompts.create"
        "INSERT INTO prompt (account_id, {INPUT_COLUMNS}, created_at, updated_at, images)
         SELECT $1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12 WHERE {KEY_IS_VALID}
         RETURNING id, created_at";
    /// Counts a new prompt in the vault `$3` and locks the vault. Without that vault, this and the next
    /// two change nothing.
    non_idempotent COUNT_NEW "prompts.count_new"
        "UPDATE vault v SET prompt_count = v.prompt_count + 1
         WHERE v.account_id = $1 AND v.id = $3 AND {KEY_IS_VALID} RETURNING v.id";
    /// Stores it with the id `$14`, for the vault `$13`.
    non_idempotent CREATE_FOR "prompts.create_for"
        "INSERT INTO prompt (account_id, {INPUT_COLUMNS}, created_at, updated_at, images, id)
         SELECT $1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, $14 FROM vault v
         WHERE v.account_id = $1 AND v.id = $13 AND {KEY_IS_VALID}";
    /// Puts the prompt `$4` of the type `$5` into the vault `$3`.
    non_idempotent PUT_NEW "prompts.put_new"
        "INSERT INTO vault_prompt (account_id, vault_id, prompt_id, kind)
         SELECT $1, v.id, $4, $5 FROM vault v
         WHERE v.account_id = $1 AND v.id = $3 AND {KEY_IS_VALID}";
    /// Several of one key. `ORDER BY` makes ids increase with numbers, which tells whose row is
    /// whose. The URLs of all are one array, of which each has a slice.
    pipelined CREATE_MANY "prompts.create_many"
        "INSERT INTO prompt AS p (account_id, {INPUT_COLUMNS}, created_at, updated_at)
         SELECT $1, kind, title, body, platform, model_id, aspect_ratio, image_url,
             ($12::text[])[first_url:last_url], $13, $13
         FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
             $9::text[], $10::integer[], $11::integer[]) WITH ORDINALITY
             AS n (kind, title, body, platform, model_id, aspect_ratio, image_url,
                 first_url, last_url, number)
         WHERE {KEY_IS_VALID}
         ORDER BY number
         RETURNING p.id, p.created_at";
    pub(super) read_only GET "prompts.get"
        "{CALLER} SELECT {PROMPT_COLUMNS} FROM caller
         LEFT JOIN prompt p ON p.account_id = $1 AND p.id = ANY($3::bigint[])";
    read_only INPUTS "prompts.inputs"
        "{CALLER} SELECT p.id, p.model_id, p.aspect_ratio, p.image_url, p.reference_media_urls
         FROM caller LEFT JOIN prompt p ON p.account_id = $1 AND p.id = $3";
}

#[async_trait]
impl PromptStore for PostgresStore {
    async fn create_prompt(&self, caller: &Caller, new: NewPrompt) -> Result<SharedPrompt> {
        let new = Arc::new(new);
        let (id, created_at) = match new.vault {
            Some(vault) => self.create_in_vault(caller, &new, vault.get()).await?,
            None if new.images.is_empty() => {
                self.prompt_writes.run(caller.clone(), bytes(&new), new.clone()).await?
            }
            None => only(create(self.db.clone(), caller.clone(), vec![new.clone()]).await)?,
        };
        Ok(Arc::new(new.record(PromptId::new(id), created_at)))
    }

    async fn prompt(&self, caller: &Caller, id: PromptId) -> Result<SharedPrompt> {
        let prompt = self.prompt_reads.run(caller.clone(), 0, id.get()).await?;
        prompt.ok_or(StoreError::NotFound)
    }

    async fn prompt_inputs(&self, caller: &Caller, id: PromptId) -> Result<PromptInputs> {
        let row = self.db.row_of_caller(caller, &INPUTS, &[&id.get()]).await?;
        let mut columns = Columns { row: &row, next: 0 };
        columns.take::<Option<i64>>()?.ok_or(StoreError::NotFound)?;
        Ok(PromptInputs {
            model_id: columns.optional_text()?,
            aspect_ratio: columns.optional_text()?,
            image_url: columns.take()?,
            reference_media_urls: columns.take::<Option<Vec<_>>>()?.map(Into::into),
        })
    }

    /// Equal queries of a key that wait for one another share the rows.
    async fn list_prompts(&self, caller: &Caller, query: PromptQuery) -> Result<PromptPage> {
        self.pages.run((caller.clone(), query), 0, ()).await
    }

    async fn update_prompt(
        &self,
        caller: &Caller,
        id: PromptId,
        patch: PromptPatch,
    ) -> Result<SharedPrompt> {
        if patch == PromptPatch::default() {
            return self.prompt(caller, id).await;
        }
        self.change(caller, id, patch, Some(self.db.now())).await
    }

    async fn save_prompt(
        &self,
        caller: &Caller,
        id: PromptId,
        vault: VaultId,
    ) -> Result<SharedPrompt> {
        let patch = PromptPatch { vault: Some(vault), ..PromptPatch::default() };
        self.change(caller, id, patch, None).await
    }

    async fn delete_prompt(&self, caller: &Caller, id: PromptId) -> Result<()> {
        let row = self.db.row_of_caller(caller, &DELETE, &[&id.get()]).await?;
        column::<Option<i64>>(&row, 0)?.map(drop).ok_or(StoreError::NotFound)
    }
}

impl PostgresStore {
    /// Creates a prompt in a vault, in steps that stay on the account's node of Citus.
    async fn create_in_vault(
        &self,
        caller: &Caller,
        new: &NewPrompt,
        vault: i64,
    ) -> Result<Created> {
        let (ids, now) = (self.db.new_ids("prompt_id_seq", 1).await?, self.db.now());
        let id = only(Ok(ids))?;
        let mut values = values_of_one(new, now);
        values.push(Box::new(vault));
        values.push(Box::new(id));
        let steps: [Step<'_>; 3] = [
            (&COUNT_NEW, &[&vault]),
            (&CREATE_FOR, &refs(&values)),
            (&PUT_NEW, &[&vault, &id, &new.kind.as_str()]),
        ];
        match self.db.row_of_steps(By::Caller(caller), &steps).await {
            // No row: there is no such vault, or the key is revoked.
            Err(StoreError::KeyRevoked) => {
                self.confirm_key(caller).await?;
                Err(StoreError::UnknownVault)
            }
            outcome => outcome.map(|_| (id, now)),
        }
    }
}

pub(super) async fn read(
    db: Arc<Db>,
    caller: Caller,
    ids: Vec<i64>,
) -> Result<Vec<Option<SharedPrompt>>> {
    let rows = db.rows(By::Caller(&caller), &[(&GET, &[&ids])]).await?;
    let prompts = rows::all(&rows, rows::prompt)?;
    let find = |id| prompts.iter().find(|prompt| prompt.id.get() == id).cloned();
    Ok(ids.into_iter().map(find).collect())
}

/// Creates prompts without pictures, none of them in a vault.
pub(super) async fn create(
    db: Arc<Db>,
    caller: Caller,
    all: Vec<Arc<NewPrompt>>,
) -> Result<Vec<Created>> {
    let (statement, values) = match &all[..] {
        [one] => (&CREATE, values_of_one(one, db.now())),
        all => (&CREATE_MANY, values_of_all(all, db.now())),
    };
    let rows = db.rows(By::Caller(&caller), &[(statement, &refs(&values))]).await?;
    let created = rows.iter().map(|row| Ok((column(row, 0)?, column(row, 1)?)));
    let mut created = created.collect::<Result<Vec<_>>>()?;
    created.sort_unstable();
    Ok(created)
}

/// The values of [`INPUT_COLUMNS`], the time and the pictures.
pub(super) fn values_of_one(new: &NewPrompt, now: Timestamp) -> Values<'_> {
    let inputs = &new.inputs;
    vec![
        Box::new(new.kind.as_str()),
        Box::new(&*new.title),
        Box::new(&*new.text),
        Box::new(new.platform.as_deref()),
        Box::new(inputs.model_id.as_deref()),
        Box::new(inputs.aspect_ratio.as_deref()),
        Box::new(&inputs.image_url),
        Box::new(inputs.reference_media_urls.as_deref()),
        Box::new(now),
        Box::new(Json(&*new.images)),
    ]
}

fn values_of_all(all: &[Arc<NewPrompt>], now: Timestamp) -> Values<'_> {
    fn all_of<'a, T>(all: &'a [Arc<NewPrompt>], value: impl Fn(&'a NewPrompt) -> T) -> Vec<T> {
        all.iter().map(|new| value(new)).collect()
    }
    let mut urls = Vec::new();
    let slices = all.iter().map(|new| {
        let own = new.inputs.reference_media_urls.as_deref();
        let first = urls.len() + 1;
        urls.extend(own.into_iter().flatten());
        own.map(|_| (first as i32, urls.len() as i32)).unzip()
    });
    let (first_urls, last_urls): (Vec<Option<i32>>, Vec<Option<i32>>) = slices.collect();
    vec![
        Box::new(all_of(all, |new| new.kind.as_str())),
        Box::new(all_of(all, |new| &*new.title)),
        Box::new(all_of(all, |new| &*new.text)),
        Box::new(all_of(all, |new| new.platform.as_deref())),
        Box::new(all_of(all, |new| new.inputs.model_id.as_deref())),
        Box::new(all_of(all, |new| new.inputs.aspect_ratio.as_deref())),
        Box::new(all_of(all, |new| new.inputs.image_url.as_ref())),
        Box::new(first_urls),
        Box::new(last_urls),
        Box::new(urls),
        Box::new(now),
    ]
}

/// About what a prompt adds to a statement: the long ones of its values.
fn bytes(new: &NewPrompt) -> usize {
    let inputs = &new.inputs;
    let urls = inputs.reference_media_urls.iter().flat_map(|urls| urls.iter());
    let urls = urls.chain(&inputs.image_url).map(ImageRef::bytes);
    new.title.len() + new.text.len() + urls.sum::<usize>()
}
