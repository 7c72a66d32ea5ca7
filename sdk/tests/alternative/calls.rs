//! Every call of the SDK once: what it sends arrives, what it returns is what a later call shows,
//! and what is refused is an error of its kind.

use futures::future::BoxFuture;
use libtest_mimic::Failed;
use promptarium::{Client, Error, JobId, PromptId, PromptType, VaultId, VaultPromptId, Visibility};

use crate::{equal, uuid};

type Call = (&'static str, BoxFuture<'static, Result<(), Error>>);
type Kind = fn(&Error) -> bool;

/// `other` is a client of another account, `stranger` one with a key that nobody has.
pub(crate) async fn all(
    [client, other, stranger]: [&Client; 3],
    [image, video]: [&'static str; 2],
) -> Result<(), Failed> {
    let (source, target) = vaults(client).await?;
    let [text, ..] = prompts(client, [image, video], source).await?;
    lists(client, source).await?;
    contents(client, source, target, text).await?;
    uploads(client, text).await?;
    let public = other.vaults().create(format!("SDK {}", uuid())).visibility(Visibility::Public);
    let public = public.await?;
    equal("the count of a fork", &client.vaults().fork(public.id).await?.prompt_count, &0)?;
    let membership = client.vault(source).list().await?[0].vault_prompt_id;
    // What is locked or lacks a scope is no part of this: the key may do everything.
    for (name, call) in named(stranger, (text, source, membership), target) {
        is(name, call.await, Error::is_unauthorized)?;
    }
    equal("a deleted prompt", &client.prompts().delete(text).await?.id, &text)?;
    equal("a deleted vault", &client.vaults().delete(source).await?.id, &source)?;
    for (name, call) in named(client, (text, source, membership), target) {
        is(name, call.await, Error::is_not_found)?;
    }
    refused(client, target).await
}

fn is(name: &str, result: Result<(), Error>, kind: Kind) -> Result<(), Failed> {
    match result {
        Err(error) if kind(&error) && error.status().is_some() && error.message().is_some() => {
            Ok(())
        }
        Err(error) => Err(format!("{name}: {error}").into()),
        Ok(()) => Err(format!("{name}: a success").into()),
    }
}

async fn vaults(client: &Client) -> Result<(VaultId, VaultId), Failed> {
    let (vaults, name) = (client.vaults(), format!("SDK {}", uuid()));
    let made = vaults.create(&*name).description("Boats").visibility(Visibility::Unlisted).await?;
    let shown = vaults.get(made.id).await?;
    let fields = (shown.name, shown.description.as_deref(), shown.visibility);
    equal("a vault", &fields, &(name, Some("Boats"), Visibility::Unlisted))?;
    let name = format!("SDK {}", uuid());
    vaults.update(made.id).name(&*name).visibility(Visibility::Private).await?;
    vaults.update(made.id).clear_description().await?;
    let listed = vaults.list().await?.into_iter().find(|vault| vault.id == made.id);
    let fields = listed.map(|vault| (vault.name, vault.description, vault.visibility));
    equal("an updated vault", &fields, &Some((name, None, Visibility::Private)))?;
    Ok((made.id, vaults.create(format!("SDK {}", uuid())).await?.id))
}

/// A prompt of each type in the vault.
async fn prompts(
    client: &Client,
    [image, video]: [&'static str; 2],
    vault: VaultId,
) -> Result<[PromptId; 3], Failed> {
    let prompts = client.prompts();
    let full = || {
        let call = prompts.create(format!("SDK {}", uuid()), "\"A\" harbour, 灯台").vault(vault);
        let call = call.platform("poster").aspect_ratio("16:9");
        let call = call.image_url("https://example.com/a.png");
        call.reference_media_urls(["https://example.com/b.png", "https://example.com/c.png"])
    };
    let made = [full().await?, full().image(image).await?, full().video(video).await?];
    let kinds = [PromptType::Text, PromptType::Image, PromptType::Video];
    for (made, kind) in made.iter().zip(kinds) {
        let shown = prompts.get(made.id).await?;
        let fields = (&shown.title, &*shown.text, shown.platform.as_deref(), &shown.prompt_type);
        let expected = (&made.title, "\"A\" harbour, 灯台", Some("poster"), &kind);
        equal("a prompt", &fields, &expected)?;
        equal("the vault of a prompt", &shown.vault_ids.contains(&vault), &true)?;
    }
    let id = made[0].id;
    let call =
        prompts.update(id).title("New").text("A new text").platform("after").aspect_ratio("4:5");
    call.image_url("https://example.com/d.png").reference_media_urls([""; 0]).await?;
    let changed = prompts.update(id).video(video).await?;
    let fields =
        (&*changed.title, &*changed.text, changed.platform.as_deref(), &changed.prompt_type);
    let expected = ("New", "A new text", Some("after"), &PromptType::Video);
    equal("an updated prompt", &fields, &expected)?;
    Ok(made.map(|prompt| prompt.id))
}

async fn lists(client: &Client, vault: VaultId) -> Result<(), Failed> {
    let list = client.prompts().list().vault(vault);
    let all = list.clone().page().await?.items.into_iter().map(|prompt| prompt.id);
    let all: Vec<_> = all.collect();
    equal("the entries of a vault", &all.len(), &3)?;
    let first = list.clone().page_size(1).page().await?;
    let cursor = first.next_cursor.ok_or("there is no second page")?;
    let mut ids = vec![first.items[0].id];
    let mut rest = list.clone().page_size(1).cursor(cursor).items();
    while let Some(prompt) = rest.next().await {
        ids.push(prompt?.id);
    }
    equal("the first page and the rest", &ids, &all)?;
    let mut videos = list.prompt_type(PromptType::Video).page_size(1).pages();
    let mut found = 0;
    while let Some(page) = videos.next().await {
        found += page?.items.len();
    }
    equal("the videos of a vault", &found, &2)
}

async fn contents(
    client: &Client,
    source: VaultId,
    target: VaultId,
    prompt: PromptId,
) -> Result<(), Failed> {
    client.prompts().save(prompt, target).await?;
    let there = client.vault(target).list().await?;
    equal("the saved prompt", &there[0].prompt.id, &prompt)?;
    let removed = client.vault(target).remove(there[0].vault_prompt_id).await?;
    equal("a removal", &removed.removed, &true)?;
    let contents = client.vault(source);
    let more = client.prompts().create(format!("SDK {}", uuid()), "A pier").await?;
    equal("added", &contents.add([more.id]).await?.prompt_count, &4)?;
    let member = |listed: &[promptarium::VaultPrompt]| {
        listed.iter().find(|entry| entry.prompt.id == more.id).map(|it| it.vault_prompt_id)
    };
    let id = member(&contents.list().await?).ok_or("it is not there")?;
    equal("a pin", &contents.pin(id).await?.is_pinned, &true)?;
    equal("the first entry", &contents.list().await?[0].vault_prompt_id, &id)?;
    equal("an unpin", &contents.unpin(id).await?.is_pinned, &false)?;
    let moved = contents.move_to(id, target).await?;
    let there = member(&client.vault(target).list().await?);
    equal("a move", &(moved.prompt_id, Some(moved.vault_prompt_id)), &(more.id, there))
}

async fn uploads(client: &Client, prompt: PromptId) -> Result<(), Failed> {
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    png.resize(300_000, 7);
    let image = client.uploads().image(png.clone()).await?;
    equal("the size of an upload", &image.size, &300_000)?;
    client.prompts().update(prompt).image_url(image.url.as_str()).await?;
    Ok(())
}

/// Every call that names a prompt, a vault or a membership.
fn named(
    client: &Client,
    (prompt, vault, membership): (PromptId, VaultId, VaultPromptId),
    target: VaultId,
) -> Vec<Call> {
    let (prompts, vaults, contents) = (client.prompts(), client.vaults(), client.vault(vault));
    macro_rules! calls {
        ($($name:literal $call:expr;)+) => {
            vec![$(($name, {
                let call = $call;
                Box::pin(async move { call.await.map(drop) })
            })),+]
        };
    }
    calls! {
        "prompts.get" prompts.get(prompt);
        "prompts.update" prompts.update(prompt).title("t");
        "prompts.save" prompts.save(prompt, target);
        "prompts.delete" prompts.delete(prompt);
        "vaults.get" vaults.get(vault);
        "vaults.update" vaults.update(vault).name("n");
        "vaults.fork" vaults.fork(vault);
        "vaults.delete" vaults.delete(vault);
        "contents.list" contents.list();
        "contents.add" contents.add([prompt]);
        "contents.pin" contents.pin(membership);
        "contents.unpin" contents.unpin(membership);
        "contents.move_to" contents.move_to(membership, target);
        "contents.remove" contents.remove(membership);
    }
}

async fn refused(client: &Client, vault: VaultId) -> Result<(), Failed> {
    let (prompts, long) = (client.prompts(), "a".repeat(121));
    is("a long title", prompts.create(long, "p").await.map(drop), Error::is_invalid)?;
    let page = prompts.list().page_size(101).page().await.map(drop);
    is("a large page", page, Error::is_invalid)?;
    let none = client.vault(vault).add(Vec::<PromptId>::new()).await.map(drop);
    is("no prompts", none, Error::is_invalid)?;
    let five = client.generations().create("m", "A pier").batch_count(5).await.map(drop);
    is("five outputs", five, Error::is_invalid)?;
    let unknown = client.generations().status(JobId::from("nobody-has-this")).await.map(drop);
    match unknown {
        // A server may say so in a state of its own (S-35).
        Ok(()) => Ok(()),
        Err(error) if error.status().is_some() => Ok(()),
        Err(error) => Err(format!("an unknown job: {error}").into()),
    }
}
