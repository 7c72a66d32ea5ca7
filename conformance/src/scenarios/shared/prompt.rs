//! A prompt with all its inputs, and every answer that shows it.

use crate::scenarios::prelude::*;

/// Answers, each with the place of the object in it.
pub type Shown = Vec<(ApiResponse, String)>;

/// Each answer that shows a new prompt with these fields.
pub async fn in_every_answer(case: &Case, fields: Value) -> Result<Shown> {
    let [first, second] = case.vaults().await?;
    let created = case.create_prompt(fields).await?;
    created.success()?;
    // Without the id no other answer can be read.
    let Ok(prompt) = case.prompt_of(&created) else { return Ok(vec![(created, "/data".into())]) };
    let read = prompt.read().await?;
    let updated = prompt.update(json!({ "title": "Updated" })).await?;
    let saved = prompt.save_into(&second).await?;
    first.add_in_turn([&prompt]).await?;
    let list = first.list().get().await?;
    let alone = [created, read, updated, saved].map(|reply| (reply, "/data".to_owned()));
    Ok(alone.into_iter().chain([(list, "/data/0".to_owned())]).collect())
}

/// All fields of a create except title, text and vault.
pub fn all_inputs(case: &Case) -> Value {
    json!({
        "promptType": "image",
        "platform": "poster",
        "modelId": case.image_model(),
        "aspectRatio": "16:9",
        "imageUrl": "https://example.com/a.png",
        "referenceMediaUrls": ["https://example.com/b.png"],
    })
}
