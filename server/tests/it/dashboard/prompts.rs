//! Prompts in the dashboard: writing, changing and deleting them, alone and several at once.

use crate::support::browser::{Browser, assert_has};

#[tokio::test]
async fn a_prompt_is_written_changed_copied_and_deleted() {
    let browser = Browser::open().await;
    let vault = browser.vault("Sky", "private").await;
    let text = format!("First%0D%0Asecond {}", "é".repeat(14_000));
    let token = browser.token("/prompts/new").await;
    let form = format!("token={token}&title=Harbour&prompt={text}&platform=Claude&vaultId={vault}");
    let created = browser.post("/prompts/new", &form).await;
    let path = created.location().strip_suffix("?done=prompt-created").unwrap();
    let page = browser.page(created.location()).await;
    let parts = ["The prompt is saved.", "<bdi>Sky</bdi>", "Claude", &"é".repeat(14_000)];
    assert_has(&page, &parts);
    assert!(page.contains("First\nsecond"), "line breaks are not those of forms");

    let edit = format!("{path}/edit");
    assert_has(&browser.page(&edit).await, &["value=\"Harbour\"", ">\nFirst\nsecond"]);
    let form = format!("token={}&title=Lake&prompt=Short&platform=", browser.token(&edit).await);
    let changed = browser.post(&edit, &form).await;
    assert_eq!(changed.location(), format!("{path}?done=prompt-changed"));
    let page = browser.page(path).await;
    assert!(page.contains("<h1>Lake</h1>") && !page.contains("Claude"), "{page}");

    let copy = format!("/prompts/new?from={}", path.rsplit('/').next().unwrap());
    let selected = format!("value=\"{vault}\" dir=\"auto\" selected");
    assert_has(&browser.page(&copy).await, &["value=\"Lake\"", "\nShort</textarea>", &selected]);
    let delete = format!("{path}/delete");
    assert!(browser.page(&delete).await.contains("cannot be undone"));
    assert_eq!(browser.get(path).await.status, 200, "asking deletes nothing");
    let deleted = browser.post(&delete, "").await;
    assert_eq!(deleted.location(), "/prompts?done=prompt-deleted");
    assert_eq!(browser.get(path).await.status, 404);
    assert_eq!(browser.post(&delete, "").await.status, 404);
}

#[tokio::test]
async fn several_prompts_are_added_moved_and_deleted_at_once() {
    let browser = Browser::open().await;
    let vaults = [browser.vault("Sky", "private").await, browser.vault("Sea", "private").await];
    let ids = [browser.prompt("first", None).await, browser.prompt("second", None).await];
    browser.prompt("third", None).await;
    let chosen = format!("id={}&id={}&back=type%3Dtext%26x%3Dy", ids[0], ids[1]);
    let act = async |fields: String| browser.post("/prompts/chosen", &fields).await;
    let back = |code: &str| format!("/prompts?type=text&done={code}");

    let ask = act(format!("{chosen}&action=add")).await;
    assert!(ask.status == 200 && ask.body.contains("2 prompts are chosen."), "{}", ask.body);
    let added = act(format!("{chosen}&action=add&vaultId={}", vaults[0])).await;
    assert_eq!(added.location(), back("prompts-added"));
    let moving = format!("{chosen}&action=move&from={}&vaultId={}", vaults[0], vaults[1]);
    for _ in 0..2 {
        assert_eq!(act(moving.clone()).await.location(), back("prompts-moved"));
    }
    for (vault, count) in [(vaults[0], 0), (vaults[1], 2)] {
        let page = browser.page(&format!("/prompts?vaultId={vault}")).await;
        assert_eq!(page.matches("type=\"checkbox\" name=\"id\"").count(), count, "{page}");
    }
    let ask = act(format!("{chosen}&action=delete")).await;
    assert!(ask.status == 200 && ask.body.contains("Delete 2 prompts?"), "{}", ask.body);
    for _ in 0..2 {
        let deleted = act(format!("{chosen}&action=delete&sure=yes")).await;
        assert_eq!(deleted.location(), back("prompts-deleted"));
    }
    assert_has(&browser.page("/prompts").await, &[">third<", "1 prompt<"]);

    let none = act("action=delete&sure=yes&back=".to_owned()).await;
    assert_eq!(none.location(), "/prompts?done=none-chosen");
    for refused in ["id=1&action=x", "id=x&action=add", "id=1&action=add&vaultId=x"] {
        assert_eq!(act(refused.to_owned()).await.status, 400, "{refused}");
    }
}
