//! The fields of a vault; `promptCount` against what the vault lists, after every call that can change
//! it; and `POST` and `GET /vaults`. Core requires of a slug only that it fits into a URL; the
//! reference server derives it as S-16 says. The bounds of the fields are in `fields`.

use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub const ALL: &[Scenario] = &[
    scenario! { "vaults.object.id" ["VA-01"] id,
        "Every vault has an integer id of its own" },
    scenario! { "vaults.object.texts" ["VA-02", "VA-03", "VA-18"] texts,
        "A vault shows its name and its description, a string or null" },
    scenario! { "vaults.object.is-system" ["VA-09"] |case| shows(case, "isSystem", json!(false)),
        "A vault that the caller made is no system vault" },
    scenario! { "vaults.create.defaults" ["VA-19"]
        |case| shows(case, "visibility", json!("private")),
        "A vault made from a name alone is private" },
    scenario! { "vaults.count.starts-at-zero" ["VA-10"] |case| shows(case, "promptCount", json!(0)),
        "A new vault has a promptCount of 0" },
    scenario! { "vaults.slug.url-safe" ["VA-04"] url_safe,
        "A slug is never empty and always safe in a URL" },
    scenario! { "vaults.create.answer" ["VA-16"] answer,
        "A create answers 201 with the vault object that is then at its address" },
    scenario! { "vaults.create.refused-makes-nothing" ["VA-20"] refused_makes_nothing,
        "A refused create makes no vault" },
    scenario! { "vaults.list.own" ["VA-13", "VA-21"] own,
        "The list has the caller's vaults of every visibility once, as their own addresses do" },
    scenario! { "vaults.list.newest-first" ["VA-14"] newest_first,
        "The list has newer vaults before older ones, also after an update of an older one" },
    scenario! { "vaults.create.read-only" ["VA-09", "VA-10"]
        |case| not_taken(case, "/vaults", json!({ "isSystem": true, "promptCount": 7 })),
        "A create does not take isSystem and promptCount from its body" },
    scenario! { "prompts.create.read-only" ["PR-06", "PR-08"]
        |case| async move {
            let image = json!({ "url": "https://example.com/n.png", "width": 1, "height": 1 });
            let fields = json!({ "images": [image], "vaultIds": [case.vault().await?.id] });
            not_taken(case, "/prompts", fields).await
        },
        "A create does not take images and vaultIds from its body" },
    scenario! { "vaults.list.whole" ["VA-15"] whole,
        "One response holds the whole list; a limit makes no page of it: it is ignored or refused" },
];

pub async fn shows(case: Case, field: &str, expected: Value) -> Result {
    let (vault, created) = case.vault_with(json!({})).await?;
    let updated = vault.update(json!({ "visibility": "private" })).await?;
    for reply in [created, vault.read().await?, updated] {
        reply.equals(&format!("/data/{field}"), expected.clone())?;
    }
    let (listed, what) = (list(&case).await?, format!("{field} to be {expected}"));
    let entry = listed.entry(vault.id)?;
    listed.ensure(entry.get(field) == Some(&expected), what, &entry).map(drop)
}

async fn id(case: Case) -> Result {
    let vaults = try_join_all((0..8).map(|_| case.vault())).await?;
    for vault in &vaults {
        vault.read().await?.equals("/data/id", vault.id)?;
    }
    check::distinct("ids of vaults", vaults.iter().map(|vault| vault.id))
}

async fn texts(case: Case) -> Result {
    // A text that looks like another type stays a text.
    let texts = ["Boats, cranes, gulls", "7", "1e3", "true", "null", "{}"].map(Value::from);
    for description in texts.into_iter().chain([Value::Null]) {
        let fields = json!({ "name": case.name("named"), "description": description });
        case.vault_with(fields.clone()).await?.0.read().await?.shows(&fields)?;
    }
    Ok(())
}

pub fn unique_word() -> String {
    format!("{:012x}", rand::random::<u64>() >> 16)
}

async fn url_safe(case: Case) -> Result {
    let mark = |byte: u8| char::from(b"!?*.;,"[usize::from(byte) % 6]);
    let marks = [(); 2].map(|()| unique_word().bytes().map(mark).collect());
    let names = ["plain", "a b", "Öl 漢字", "50% off", "a/b?c#d", "<\"&'>", "😀 e\u{301}"];
    let names = names.map(|name| [(); 2].map(|()| format!("{name} {}", unique_word())));
    for [name, new] in names.into_iter().chain([marks]) {
        let (vault, created) = case.vault_with(json!({ "name": name })).await?;
        let renamed = vault.update(json!({ "name": new })).await?;
        for reply in [created, renamed] {
            let slug = reply.success()?.string("/data/slug")?;
            let what = format!("a slug of the name {} that is safe in a URL", json_text(&name));
            reply.ensure(!slug.is_empty() && is_url_safe(slug), what, json_text(&slug))?;
        }
    }
    Ok(())
}

/// Whether it is one segment of a path by RFC 3986.
fn is_url_safe(slug: &str) -> bool {
    slug.chars().all(|c| c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@%".contains(c))
}

pub async fn general(case: &Case) -> Result<Vault> {
    let first = case.system_vaults().await?.first().copied();
    let none = || Failure::failed("a system vault in the list", "none");
    Ok(case.vault_at(first.ok_or_else(none)?))
}

async fn answer(case: Case) -> Result {
    let fields = json!({ "description": "Boats, cranes, gulls", "visibility": "unlisted" });
    let (vault, created) = case.vault_with(fields).await?;
    let read = vault.read().await?;
    same_object(created.status(201)?, created.at("/data")?, read.at("/data")?)
}

/// Fields that are only to be read are ignored, or refused (S-67).
async fn not_taken(case: Case, path: &str, fields: Value) -> Result {
    let mut shown = Vec::new();
    for fields in [&json!({}), &fields] {
        let required = match path {
            "/vaults" => json!({ "name": case.name("vault") }),
            _ => json!({ "title": case.name("prompt"), "prompt": "Dusk" }),
        };
        let reply = case.wire().post(path, merged(required, fields.clone())).await?;
        let what = "fields that are only to be read";
        let Some(reply) = reply.unless_refused(what)? else { return Ok(()) };
        let read = case.wire().get(&format!("{path}/{}", reply.integer("/data/id")?)).await?;
        shown.push(check::stable_fields(read.data(200)?));
    }
    for field in fields.as_object().into_iter().flatten().map(|(field, _)| field) {
        check::equal(field, &shown[1][field], &shown[0][field])?;
    }
    Ok(())
}

async fn refused_makes_nothing(case: Case) -> Result {
    let name = case.name("never");
    let body = json!({ "name": name, "visibility": "secret" });
    case.wire().post("/vaults", body).await?.is_bad_request("visibility \"secret\"")?;
    list(&case).await?.lacks("name", name)?;
    // A name that is taken may be refused (S-17).
    let (_, first) = case.vault_with(json!({})).await?;
    let same = json!({ "name": first.string("/data/name")? });
    case.wire().post("/vaults", same).await?.unless_refused("a name twice").map(drop)
}

async fn own(case: Case) -> Result {
    // A system vault is the caller's too.
    for id in case.system_vaults().await? {
        case.vault_at(id).read().await?.equals("/data/id", id)?;
    }
    for visibility in ["private", "unlisted", "public"] {
        let (vault, _) = case.vault_with(json!({ "visibility": visibility })).await?;
        // The list shows the vault as it is now.
        vault.update(json!({ "name": case.name("renamed") })).await?.status(200)?;
        let vaults = list(&case).await?;
        same_object(&vaults, &vaults.entry(vault.id)?, vault.read().await?.at("/data")?)?;
        // A list that is joined with the contents would repeat the vault for each prompt.
        vault.fill(2).await?;
        check::distinct("ids of vaults", list(&case).await?.integers("/data", "id")?)?;
    }
    Ok(())
}

async fn newest_first(case: Case) -> Result {
    let (older, created) = case.vault_with(json!({})).await?;
    let first = created.timestamp("/data/createdAt")?;
    // The clock of the target may be coarse.
    let next = || async {
        let (newer, created) = case.vault_with(json!({})).await?;
        Ok((created.timestamp("/data/createdAt")? > first).then_some(newer))
    };
    let newer = case.until("a vault with a later createdAt", Duration::from_secs(5), next).await?;
    for updated in [false, true] {
        if updated {
            let fields = json!({ "name": case.name("renamed"), "visibility": "unlisted" });
            older.update(fields).await?.status(200)?;
            older.fill(1).await?;
        }
        let vaults = list(&case).await?;
        let ids = vaults.integers("/data", "id")?;
        let places = [&older, &newer].map(|vault| ids.iter().position(|id| *id == vault.id));
        let in_order = matches!(places, [Some(older), Some(newer)] if newer < older);
        let got = format!("the earlier one and the later one at the places {}", json_text(&places));
        vaults.ensure(in_order, "the later vault before the earlier one", got)?;
    }
    Ok(())
}

/// More vaults than the longest page of this API has entries.
async fn whole(case: Case) -> Result {
    let mut made = BTreeSet::new();
    for _ in 0..7 {
        let vaults = try_join_all((0..15).map(|_| case.vault())).await?;
        made.extend(vaults.iter().map(|vault| vault.id));
    }
    holds_all(&case, "/vaults", &made).await
}

pub async fn list(case: &Case) -> Result<ApiResponse> {
    let reply = case.wire().get("/vaults").await?;
    reply.status(200)?;
    Ok(reply)
}

/// The vault in this reply has the keys of the vault object and the values of `expected`, except the
/// timestamps and the cover, which a server may select and sign for each answer (S-15).
pub fn same_object(reply: &ApiResponse, got: &Value, expected: &Value) -> Result {
    const VALUES: &str =
        "id name description slug visibility accessType isLocked isSystem promptCount";
    for key in VALUES.split(' ') {
        let text = |vault: &Value| vault.get(key).map_or("nothing".to_owned(), Value::to_string);
        let (got, expected) = (text(got), text(expected));
        reply.ensure(got == expected, format!("{key} to be {expected}"), &got)?;
    }
    for key in ["createdAt", "updatedAt", "coverImageUrl"] {
        reply.ensure(got.get(key).is_some(), format!("{key} in the vault object"), "nothing")?;
    }
    Ok(())
}

/// The list at this path holds all of these, more than any page of this API, in one response, also
/// with a limit, unless that is refused.
pub async fn holds_all(case: &Case, path: &str, expected: &BTreeSet<i64>) -> Result {
    for query in ["", "?limit=1"] {
        let reply = case.wire().get(&format!("{path}{query}")).await?;
        if !query.is_empty() && reply.unless_refused("an unknown parameter")?.is_none() {
            return Ok(());
        }
        let listed: BTreeSet<_> = reply.status(200)?.integers("/data", "id")?.into_iter().collect();
        let missing = expected.difference(&listed).count();
        let what = format!("all of {} entries in one response", expected.len());
        reply.ensure(missing == 0, what, format!("{missing} of them missing"))?;
        let next = reply.json()?.pointer("/pagination/nextCursor").unwrap_or(&Value::Null);
        reply.ensure(next.is_null(), "no cursor to a next page", next)?;
    }
    Ok(())
}
