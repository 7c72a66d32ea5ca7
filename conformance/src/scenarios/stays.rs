//! What a call does not name stays as it was: each row is a call, and every prompt, vault and listing
//! around it is compared whole, before and after, but for what the row names. What no response
//! shows, such as the model of a prompt, is compared by its effect. Whatever shows a thing shows the
//! same of it each time, the lists too.

pub mod world;

use std::sync::LazyLock;

use self::world::World;
use super::prelude::*;

pub static ALL: LazyLock<Vec<Scenario>> = LazyLock::new(|| {
    let changes = CHANGES.iter().map(|(id, request, rule, changed)| {
        let title = format!("{request}: nothing else changes");
        let may_be_refused = id.ends_with("read-only") || id.ends_with("once-again");
        let run = move |case| changes_only(case, request, changed, may_be_refused);
        let needs: &[_] = if id.starts_with("fork") { &[Need::OtherAccount] } else { &[] };
        Scenario { needs, ..Scenario::generated(format!("stays.{id}"), title, vec![*rule], run) }
    });
    let refusals = REFUSALS.iter().map(|(id, call, good, bad, rule)| {
        let title = format!("{call}: where one field is refused, none takes effect");
        let run = move |case| refused_whole(case, call, good, bad);
        Scenario::generated(format!("stays.refused.{id}"), title, vec![*rule], run)
    });
    changes.chain(refusals).collect()
});

/// Id, request, rule, and what it changes: fields of things as [`World::state`] names them. `$P` is
/// the id of prompt P, `$A` of vault A, `$p` and `$q` are the memberships of P and Q in A, `$b` is
/// that of P in B. Fields that are only to be read may be refused (S-67), and a second membership (S-26).
#[rustfmt::skip]
static CHANGES: &[(&str, &str, &str, &str)] = &[
    ("update-prompt.title", r#"PATCH /prompts/$P {"title":"New"}"#, "PR-32", "P.title"),
    ("update-prompt.prompt", r#"PATCH /prompts/$P {"prompt":"New"}"#, "PR-32", "P.prompt"),
    ("update-prompt.type", r#"PATCH /prompts/$P {"promptType":"text"}"#, "PR-32", "P.promptType"),
    ("update-prompt.platform", r#"PATCH /prompts/$P {"platform":"new"}"#, "PR-32", "P.platform"),
    ("update-prompt.model", r#"PATCH /prompts/$P {"modelId":"$M"}"#, "PR-32", "P."),
    ("update-prompt.ratio", r#"PATCH /prompts/$P {"aspectRatio":"9:16"}"#, "PR-32", "P."),
    ("update-prompt.image", r#"PATCH /prompts/$P {"imageUrl":"https://example.com/n.png"}"#, "PR-32", "P.images"),
    ("update-prompt.references", r#"PATCH /prompts/$P {"referenceMediaUrls":[]}"#, "PR-32", "P."),
    ("update-prompt.vault", r#"PATCH /prompts/$P {"vaultId":$C}"#, "PR-38", "P.vaultIds C.promptCount C[] P@C"),
    ("update-prompt.model-of-text", r#"PATCH /prompts/$Q {"modelId":"$M"}"#, "PR-32", "Q."),
    ("update-prompt.read-only", r#"PATCH /prompts/$P {"platform":"new","vaultIds":[],"images":[{"url":"x"}],"createdAt":"2001-01-01T00:00:00Z"}"#, "PR-32", "P.platform"),
    ("update-prompt.nothing", r"PATCH /prompts/$P {}", "PR-32", "P."),
    ("save-prompt.into-another", r#"POST /prompts/$P/save {"vaultId":$C}"#, "PR-46", "P.vaultIds C.promptCount C[] P@C"),
    ("save-prompt.once-again", r#"POST /prompts/$P/save {"vaultId":$B}"#, "VA-10", "B.promptCount B[] P@B B. P."),
    ("create-prompt.in-a-vault", r#"POST /prompts {"title":"New","prompt":"New","vaultId":$A}"#, "PR-27", "A.promptCount A[]"),
    ("delete-prompt.of-a-vault", "DELETE /prompts/$Q", "PR-42", "Q Q+ Q@A Q@B A.promptCount B.promptCount A[] B[]"),
    ("delete-prompt.pinned", "DELETE /prompts/$P", "PR-42", "P P+ P@A P@B A.promptCount B.promptCount A[] B[]"),
    ("create-vault.beside", r#"POST /vaults {"name":"$N"}"#, "VA-16", ""),
    ("update-vault.name", r#"PATCH /vaults/$A {"name":"$N"}"#, "VA-23", "A.name A.slug"),
    ("update-vault.description", r#"PATCH /vaults/$A {"description":"New"}"#, "VA-23", "A.description"),
    ("update-vault.no-description", r#"PATCH /vaults/$A {"description":null}"#, "VA-23", "A.description"),
    ("update-vault.visibility", r#"PATCH /vaults/$A {"visibility":"public"}"#, "VA-23", "A.visibility"),
    ("update-vault.read-only", r#"PATCH /vaults/$A {"description":"New","isSystem":true,"promptCount":7,"createdAt":"2001-01-01T00:00:00Z"}"#, "VA-23", "A.description"),
    ("update-vault.nothing", r"PATCH /vaults/$A {}", "VA-23", "A."),
    ("delete-vault.with-prompts", "DELETE /vaults/$B", "VA-28", "B B[] P@B Q@B P.vaultIds Q.vaultIds"),
    ("fork-vault.of-another", "POST /vaults/$A/fork", "VA-34", ""),
    ("add-prompts.two", r#"POST /vaults/$C/prompts {"promptIds":[$P,$R]}"#, "VC-03", "P.vaultIds R.vaultIds C.promptCount C[] P@C R@C"),
    ("add-prompts.beside-pins", r#"POST /vaults/$A/prompts {"promptIds":[$S]}"#, "VC-03", "S.vaultIds A.promptCount A[] S@A"),
    ("add-prompts.once-again", r#"POST /vaults/$B/prompts {"promptIds":[$P]}"#, "VA-10", "B.promptCount B[] P@B B. P."),
    ("remove-prompt.from-one", "DELETE /vaults/$A/prompts/$p", "VC-15", "P.vaultIds A.promptCount A[] P@A"),
    ("remove-prompt.pinned-elsewhere", "DELETE /vaults/$B/prompts/$b", "VC-15", "P.vaultIds B.promptCount B[] P@B"),
    ("move-prompt.to-another", r#"POST /vaults/$A/prompts/$p/move {"targetVaultId":$C}"#, "VC-20", "P.vaultIds A.promptCount C.promptCount A[] C[] P@A P@C"),
    ("move-prompt.pinned-elsewhere", r#"POST /vaults/$B/prompts/$b/move {"targetVaultId":$C}"#, "VC-20", "P.vaultIds B.promptCount C.promptCount B[] C[] P@B P@C"),
    ("pin.second", "POST /vaults/$A/prompts/$q/pin", "VC-27", "Q@A.isPinned A[] A. Q."),
    ("pin.elsewhere", "POST /vaults/$B/prompts/$b/pin", "VC-27", "P@B.isPinned B[] B. P."),
    ("pin.again", "POST /vaults/$A/prompts/$p/pin", "VC-29", "A. P."),
    ("unpin.first", "DELETE /vaults/$A/prompts/$p/pin", "VC-28", "P@A.isPinned A[] A. P."),
    ("unpin.again", "DELETE /vaults/$A/prompts/$q/pin", "VC-30", "A. Q."),
];

/// Id, call, a good body, and values of its fields of which each alone makes it a bad one; the rule.
/// No vault has the id `$X`.
#[rustfmt::skip]
static REFUSALS: &[(&str, &str, &str, &str, &str)] = &[
    ("update-prompt", "PATCH /prompts/$P",
        r#"{"title":"New","prompt":"New","platform":"new","promptType":"video","modelId":"$V","aspectRatio":"9:16",
            "vaultId":$C,"imageUrl":"https://example.com/n.png","referenceMediaUrls":[]}"#,
        r#"{"title":"","prompt":7,"platform":7,"promptType":"audio","modelId":"nowhere","aspectRatio":7,"vaultId":$X,
            "imageUrl":"plainword","referenceMediaUrls":[7]}"#, "PR-35"),
    ("update-vault", "PATCH /vaults/$A",
        r#"{"name":"$N","description":"New","visibility":"public"}"#,
        r#"{"name":"","description":7,"visibility":"secret"}"#, "VA-20"),
    ("create-prompt", "POST /prompts",
        r#"{"title":"$N","prompt":"New","vaultId":$C,"platform":"new","promptType":"text","modelId":"$M",
            "aspectRatio":"1:1","imageUrl":"https://example.com/n.png","referenceMediaUrls":[]}"#,
        r#"{"title":"","prompt":"","vaultId":$X,"platform":7,"promptType":"audio","modelId":"nowhere",
            "aspectRatio":7,"imageUrl":"plainword","referenceMediaUrls":["plainword"]}"#, "PR-20"),
    ("save-prompt", "POST /prompts/$P/save", r#"{"vaultId":$C}"#, r#"{"vaultId":$X}"#, "PR-47"),
    ("add-prompts", "POST /vaults/$C/prompts",
        r#"{"promptIds":[$R]}"#, r#"{"promptIds":[$R,"x"]}"#, "VC-13"),
    ("move-prompt", "POST /vaults/$A/prompts/$p/move",
        r#"{"targetVaultId":$C}"#, r#"{"targetVaultId":$X}"#, "VC-21"),
];

/// Where the call may be refused, it then changes nothing.
async fn changes_only(case: Case, request: &str, changed: &str, may_be_refused: bool) -> Result {
    let world = World::make(case.clone()).await?;
    let before = world.state().await?;
    let wire = if request.ends_with("/fork") { case.other() } else { case.wire() };
    // An update with what is there already is one too; only a second membership may be refused (S-26).
    let again = request.starts_with("PATCH") && !request.contains("vaultId");
    let filled = world.fill(request);
    for _ in 0..1 + usize::from(again) {
        let reply = world.send(&wire, &filled).await?;
        if may_be_refused && !reply.is_success() {
            reply.is_client_error("what may be refused")?;
            return world.expect(&before, "").await.map(drop);
        }
        reply.success()?;
        let now = world.expect(&before, changed).await?;
        let thing = request.split(['$', '/', ' ']).find(|part| now.contains_key(*part));
        if request.starts_with("PATCH") || request.contains("/save") {
            let shown = check::stable_fields(reply.at("/data")?);
            check::equal("the answer", &Some(&shown), &thing.and_then(|thing| now.get(thing)))?;
        }
        // Only a move may take a pin along (S-30).
        for (name, entry) in now.iter().filter(|(name, _)| !before.contains_key(*name)) {
            let pinned = entry["isPinned"] == true && !request.contains("/move");
            check::ensure(!pinned, &format!("{name} not to be pinned"), entry.to_string())?;
        }
    }
    if request.starts_with("PATCH /prompts") { world.expect_model().await } else { Ok(()) }
}

async fn refused_whole(case: Case, call: &str, good: &str, bad: &str) -> Result {
    let world = World::make(case).await?;
    let before = world.state().await?;
    let read = |text: &str| serde_json::from_str::<Value>(&world.fill(text)).unwrap_or_default();
    let good = read(good);
    for (field, value) in read(bad).as_object().into_iter().flatten() {
        let body = merged(good.clone(), json!({ field: value }));
        let reply = world.send(&world.case.wire(), &format!("{call} {body}")).await?;
        reply.is_client_error(format!("the {field} {value}"))?;
        check::with_context(field, world.expect(&before, "").await)?;
    }
    if call == "POST /prompts" {
        let walk = world.case.list().limit(100).walk().await?;
        walk.pages.iter().try_for_each(|page| page.reply.lacks("title", good["title"].clone()))?;
    }
    Ok(())
}
