//! Forking a vault of another account, which is what core knows of it: a
//! server may refuse the fork of one's own (S-22). That the copy is on its own
//! from then on is in `independence`, what else is copied in `choices`.

pub(super) mod choices;
pub(super) mod independence;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{list, read, same_object};
use crate::scenario::core;
use crate::wire::{Reply, Wire};
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "vaults.fork.public-and-unlisted" ["VA-29"] [OtherAccount] public_and_unlisted,
        "A public and an unlisted vault of another account can be forked" },
    core! { "vaults.fork.answer" ["VA-29"] [OtherAccount] answer,
        "A fork answers 201 with the vault object that is then in the caller's list" },
    core! { "vaults.fork.own-private" ["VA-30"] own_private,
        "A private vault of the caller cannot be forked" },
    core! { "vaults.fork.made-private" ["VA-30"] [OtherAccount] made_private,
        "A vault that was made private again cannot be forked" },
    core! { "vaults.fork.is-private" ["VA-31"] [OtherAccount] is_private,
        "A fork is private and no system vault" },
    core! { "vaults.fork.count" ["VA-32"] [OtherAccount] count,
        "The promptCount of a fork is the number of prompts that were copied" },
    core! { "vaults.fork.whole" ["VA-33", "VA-32"] [OtherAccount] whole,
        "A fork holds a copy of every prompt of a source that is longer than any page" },
    core! { "vaults.fork.copies" ["VA-33"] [OtherAccount] copies,
        "A fork holds a copy of every prompt of the source" },
    core! { "vaults.fork.new-records" ["VA-33"] [OtherAccount] new_records,
        "The prompts of a fork are new records with ids of their own, which the caller owns" },
];

/// A vault of the other account with so many prompts.
pub(super) async fn source(case: &Case, visibility: &str, prompts: usize) -> Result<i64, Failure> {
    let fields = json!({ "visibility": visibility });
    let made = make::vault_with(case, &case.other(), fields).await?;
    let vault = made.integer("/data/id")?;
    make::members(case, &case.other(), vault, prompts).await?;
    Ok(vault)
}

/// The caller's new fork of it.
async fn fork(wire: &Wire, vault: i64) -> Result<Reply, Failure> {
    let reply = wire.post_empty(&format!("/vaults/{vault}/fork")).await?;
    reply.status(201)?;
    Ok(reply)
}

/// What a person wrote into each prompt of the vault, whatever the order.
async fn texts(wire: &Wire, vault: i64) -> Result<BTreeSet<String>, Failure> {
    let reply = wire.get(&format!("/vaults/{vault}/prompts")).await?;
    let prompts = reply.status(200)?.array("/data")?;
    let written = ["title", "prompt", "promptType", "platform"];
    let text = |prompt: &Value| Value::from_iter(written.map(|key| (key, prompt[key].clone())));
    Ok(prompts.iter().map(|prompt| text(prompt).to_string()).collect())
}

async fn public_and_unlisted(case: Case) -> Result<(), Failure> {
    for visibility in ["public", "unlisted"] {
        let vault = source(&case, visibility, 1).await?;
        let reply = case.wire().post_empty(&format!("/vaults/{vault}/fork")).await?;
        reply.accepted(201, format!("the fork of an {visibility} vault"))?;
    }
    Ok(())
}

async fn answer(case: Case) -> Result<(), Failure> {
    let vault = source(&case, "public", 2).await?;
    let forked = fork(&case.wire(), vault).await?;
    let entry = list(&case.wire()).await?.entry(forked.integer("/data/id")?)?;
    same_object(forked.at("/data")?, &entry)
}

async fn own_private(case: Case) -> Result<(), Failure> {
    let vault = make::vault(&case, &case.wire()).await?;
    let reply = case.wire().post_empty(&format!("/vaults/{vault}/fork")).await?;
    reply.is_client_error("the fork of a private vault")?;
    Ok(())
}

async fn made_private(case: Case) -> Result<(), Failure> {
    let vault = source(&case, "public", 1).await?;
    let body = json!({ "visibility": "private" });
    case.other().patch(&format!("/vaults/{vault}"), body).await?.status(200)?;
    let reply = case.wire().post_empty(&format!("/vaults/{vault}/fork")).await?;
    reply.is_client_error("the fork of a vault that is private by now")?;
    Ok(())
}

async fn is_private(case: Case) -> Result<(), Failure> {
    let vault = source(&case, "public", 1).await?;
    let forked = fork(&case.wire(), vault).await?;
    forked.equals("/data/visibility", "private")?.equals("/data/isSystem", false)?;
    let shown = read(&case.wire(), forked.integer("/data/id")?).await?;
    shown.equals("/data/visibility", "private")?.equals("/data/isSystem", false)?;
    Ok(())
}

async fn count(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    for prompts in [0, 1, 4] {
        let vault = source(&case, "public", prompts).await?;
        let forked = fork(&wire, vault).await?;
        let id = forked.integer("/data/id")?;
        let copied = make::contents(&wire, id).await?.len();
        forked.equals("/data/promptCount", copied)?;
        let shown = make::count_of(&wire, id).await?;
        let what = format!("promptCount of a fork with {copied} prompts in its listing");
        check::equal(&what, &usize::try_from(shown).ok(), &Some(copied))?;
    }
    Ok(())
}

async fn copies(case: Case) -> Result<(), Failure> {
    let (wire, other) = (case.wire(), case.other());
    let vault = source(&case, "public", 3).await?;
    for fields in [
        json!({ "promptType": "image", "modelId": case.image_model(), "vaultId": vault }),
        json!({ "promptType": "video", "modelId": case.video_model(), "vaultId": vault }),
        json!({ "platform": "poster", "vaultId": vault }),
    ] {
        make::prompt_with(&case, &other, fields).await?;
    }
    let forked = fork(&wire, vault).await?.integer("/data/id")?;
    let (copies, sources) = (texts(&wire, forked).await?, texts(&other, vault).await?);
    check::equal("title, text, type and platform of the copies", &copies, &sources)?;

    let empty = source(&case, "unlisted", 0).await?;
    let forked = fork(&wire, empty).await?.integer("/data/id")?;
    let copies = make::contents(&wire, forked).await?;
    check::equal("the listing of the fork of an empty vault", &copies, &vec![])
}

async fn whole(case: Case) -> Result<(), Failure> {
    let (wire, other) = (case.wire(), case.other());
    let vault = source(&case, "public", 0).await?;
    for _ in 0..7 {
        let prompts = make::prompts(&case, &other, 15).await?;
        let body = json!({ "promptIds": prompts });
        other.post(&format!("/vaults/{vault}/prompts"), body).await?.status(201)?;
    }
    let forked = fork(&wire, vault).await?;
    forked.equals("/data/promptCount", 105)?;
    let forked = forked.integer("/data/id")?;
    let (copies, sources) = (texts(&wire, forked).await?, texts(&other, vault).await?);
    check::equal("the number of different prompts", &copies.len(), &sources.len())?;
    check::ensure(copies == sources, "copies of all 105 prompts of the source", "other texts")
}

async fn new_records(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = source(&case, "public", 3).await?;
    let forked = fork(&wire, vault).await?.integer("/data/id")?;
    let sources = make::contents(&case.other(), vault).await?;
    for copy in make::contents(&wire, forked).await? {
        let is_new = sources.iter().all(|source| source.prompt != copy.prompt);
        check::ensure(is_new, "copies with ids of their own", "the id of a source prompt")?;
        wire.get(&format!("/prompts/{}", copy.prompt)).await?.accepted(200, "a copy")?;
    }
    Ok(())
}
