//! Prompts in the dashboard: writing, changing, finding and deleting them.

use serde_json::json;

use super::{Browser, attribute};

#[tokio::test]
async fn a_prompt_is_written_changed_copied_and_deleted() {
    let browser = Browser::open().await;
    let vault = browser.create("/vaults", json!({ "name": "Sky" })).await["id"].clone();
    let text = format!("First%0D%0Asecond {}", "é".repeat(14_000));
    let form = format!("title=Harbour&prompt={text}&platform=Claude&vaultId={vault}");
    let created = browser.send_form("/prompts/new", &form).await;
    let location = created.header("location").unwrap();
    let path = location.strip_suffix("?done=prompt-created").unwrap();
    let page = browser.page(location).await;
    for part in ["The prompt is saved.", "<bdi>Sky</bdi>", "Claude", &"é".repeat(14_000)] {
        assert!(page.contains(part), "no {part}: {page}");
    }
    assert!(page.contains("First\nsecond"), "line breaks are not those of forms");

    let edit = format!("{path}/edit");
    let form = browser.page(&edit).await;
    assert!(form.contains("value=\"Harbour\"") && form.contains(">\nFirst\nsecond"), "{form}");
    let changed = browser.send_form(&edit, "title=Lake&prompt=Short&platform=").await;
    assert_eq!(changed.header("location"), Some(&*format!("{path}?done=prompt-changed")));
    let page = browser.page(path).await;
    assert!(page.contains("<h1>Lake</h1>") && !page.contains("Claude"), "{page}");

    let copy =
        browser.page(&format!("/prompts/new?from={}", path.rsplit('/').next().unwrap())).await;
    for part in [
        "value=\"Lake\"",
        "\nShort</textarea>",
        &format!("value=\"{vault}\" dir=\"auto\" selected"),
    ] {
        assert!(copy.contains(part), "no {part}: {copy}");
    }
    let delete = format!("{path}/delete");
    assert!(browser.page(&delete).await.contains("cannot be undone"));
    assert_eq!(browser.get(path).await.status, 200, "asking deletes nothing");
    let deleted = browser.post(&delete, "").await;
    assert_eq!(deleted.header("location"), Some("/prompts?done=prompt-deleted"));
    assert_eq!(browser.get(path).await.status, 404);
    assert_eq!(browser.post(&delete, "").await.status, 404);
}

#[tokio::test]
async fn sending_the_form_of_a_prompt_twice_makes_one() {
    let browser = Browser::open().await;
    let token =
        attribute(&browser.page("/prompts/new").await, "name=\"token\" value=\"").to_owned();
    let refused = browser.post("/prompts/new", &format!("token={token}&title=Once")).await;
    assert_eq!(refused.status, 400);
    assert!(refused.body.contains(&token), "the corrected form has another token");
    let form = format!("token={token}&title=Once&prompt=p");
    let both =
        [browser.post("/prompts/new", &form).await, browser.post("/prompts/new", &form).await];
    assert_eq!(both[0].header("location"), both[1].header("location"));
    assert!(browser.page("/prompts").await.contains("1 prompt<"));
}

#[tokio::test]
async fn a_refused_form_keeps_everything_typed() {
    let browser = Browser::open().await;
    let form =
        "title=&prompt=%3Cb%3E+first%0D%0Asecond&promptType=video&platform=P%22&modelId=other%2Fm";
    let refused = browser.post("/prompts/new", form).await;
    assert_eq!(refused.status, 400);
    for part in [
        ">\n&lt;b&gt; first\r\nsecond</textarea>",
        "<option value=\"video\" dir=\"auto\" selected>",
        "value=\"P&quot;\"",
        "value=\"other/m\"",
        "Title is required",
        "Model must be a model id that begins with local/",
    ] {
        assert!(refused.body.contains(part), "no {part}: {}", refused.body);
    }
}

#[tokio::test]
async fn a_search_finds_beginnings_of_words_in_title_text_and_platform() {
    let browser = Browser::open().await;
    for (title, text, platform) in
        [("Harbour", "calm water", "Claude"), ("City", "neon/harbours at night", "Midjourney")]
    {
        let prompt = json!({ "title": title, "prompt": text, "platform": platform });
        browser.create("/prompts", prompt).await;
    }
    for (query, found) in [
        ("harb", &["Harbour", "City"][..]),
        ("HARBOURS", &["City"]),
        ("wat+harb", &["Harbour"]),
        ("midj", &["City"]),
        ("bour", &[]),
        ("%27%3A*+%21%3C%3E", &[]),
        ("", &["Harbour", "City"]),
    ] {
        let page = browser.page(&format!("/prompts?q={query}")).await;
        for title in ["Harbour", "City"] {
            let is_found = page.contains(&format!("<bdi>{title}</bdi>"));
            assert_eq!(is_found, found.contains(&title), "{query} {title}: {page}");
        }
    }
}

#[tokio::test]
async fn prompts_in_no_vault_are_a_filter() {
    let browser = Browser::open().await;
    let vault = browser.create("/vaults", json!({ "name": "Sky" })).await["id"].clone();
    let inside = json!({ "title": "inside", "prompt": "p", "vaultId": vault });
    browser.create("/prompts", inside).await;
    browser.prompt("loose").await;
    let page = browser.page("/prompts?vaultId=none").await;
    assert!(page.contains(">loose<") && !page.contains(">inside<"), "{page}");
    assert!(page.contains("<option value=\"none\" dir=\"auto\" selected>In no vault"), "{page}");
}

#[tokio::test]
async fn several_prompts_are_added_moved_and_deleted_at_once() {
    let browser = Browser::open().await;
    let mut vaults = Vec::new();
    for name in ["Sky", "Sea"] {
        vaults.push(browser.create("/vaults", json!({ "name": name })).await["id"].clone());
    }
    let ids = [browser.prompt("first").await, browser.prompt("second").await];
    browser.prompt("third").await;
    let chosen = format!("id={}&id={}&back=type%3Dtext%26x%3Dy", ids[0], ids[1]);
    let act = async |fields: String| browser.post("/prompts/chosen", &fields).await;
    let back = |code: &str| format!("/prompts?type=text&done={code}");

    let ask = act(format!("{chosen}&action=add")).await;
    assert!(ask.status == 200 && ask.body.contains("2 prompts are chosen."), "{}", ask.body);
    let added = act(format!("{chosen}&action=add&vaultId={}", vaults[0])).await;
    assert_eq!(added.header("location"), Some(&*back("prompts-added")));
    let moving = format!("{chosen}&action=move&from={}&vaultId={}", vaults[0], vaults[1]);
    for _ in 0..2 {
        let moved = act(moving.clone()).await;
        assert_eq!(moved.header("location"), Some(&*back("prompts-moved")));
    }
    for (vault, count) in [(&vaults[0], 0), (&vaults[1], 2)] {
        let page = browser.page(&format!("/prompts?vaultId={vault}")).await;
        assert_eq!(page.matches("type=\"checkbox\" name=\"id\"").count(), count, "{page}");
    }
    let ask = act(format!("{chosen}&action=delete")).await;
    assert!(ask.status == 200 && ask.body.contains("Delete 2 prompts?"), "{}", ask.body);
    for _ in 0..2 {
        let deleted = act(format!("{chosen}&action=delete&sure=yes")).await;
        assert_eq!(deleted.header("location"), Some(&*back("prompts-deleted")));
    }
    let left = browser.page("/prompts").await;
    assert!(left.contains(">third<") && left.contains("1 prompt<"), "{left}");

    let none = act("action=delete&sure=yes&back=".to_owned()).await;
    assert_eq!(none.header("location"), Some("/prompts?done=none-chosen"));
    for refused in ["id=1&action=x", "id=x&action=add", "id=1&action=add&vaultId=x"] {
        assert_eq!(act(refused.to_owned()).await.status, 400, "{refused}");
    }
}

#[tokio::test]
async fn what_was_done_is_said_by_a_fixed_text_only() {
    let browser = Browser::open().await;
    let page = browser.page("/prompts?done=prompt-deleted").await;
    assert!(page.contains("role=\"status\">The prompt is deleted."), "{page}");
    for text in ["Your+key+is+lost", "%3Cb%3E", "prompt-deleted%20", ""] {
        let page = browser.page(&format!("/prompts?done={text}")).await;
        assert!(!page.contains("role=\"status\""), "{text}: {page}");
    }
}
