//! What the forms of the dashboard do, and what they say of wrong fields.

use super::PAGES;
use crate::support::browser::{Browser, assert_has, attribute, request, send, sign_in};
use crate::support::client::Connection;

#[tokio::test]
async fn a_new_key_is_on_no_other_page_and_without_a_scope_only_reads() {
    let browser = Browser::open().await;
    let created = browser.post("/keys", "name=Reader&scope=").await;
    assert_eq!((created.status, created.header("cache-control")), (200, Some("no-store")));
    let (_, key) = created.body.split_once("export PROMPTARIUM_API_KEY=").unwrap();
    let key = key.split('<').next().unwrap();
    for (path, ..) in PAGES {
        assert!(!browser.page(path).await.contains(key.rsplit('_').next().unwrap()), "{path}");
    }
    let mut connection = Connection::to(&browser.server).await;
    for (method, expected) in [("GET", 200), ("POST", 401)] {
        let sent = connection.api(key, method, "/vaults", None).await;
        assert_eq!(sent.status, expected, "{method}");
    }
}

#[tokio::test]
async fn sending_a_form_twice_makes_one() {
    let browser = Browser::open().await;
    let form = format!("token={}&name=Laptop", browser.token("/keys").await);
    assert!(browser.post("/keys", &form).await.body.contains("export PROMPTARIUM_API_KEY="));
    let again = browser.post("/keys", &form).await;
    assert_eq!(again.location(), "/keys?done=key-created");
    let keys = browser.page("/keys?done=key-created").await;
    assert_eq!(keys.matches("<bdi>Laptop</bdi>").count(), 2, "one with its link: {keys}");
    assert!(keys.contains("The key was created before."), "{keys}");

    for (page, wrong, right, list, count) in [
        ("/prompts/new", "title=Once", "title=Once&prompt=p", "/prompts", 1),
        ("/vaults/new", "name=", "name=Sky&visibility=private", "/vaults", 2),
    ] {
        let token = browser.token(page).await;
        let refused = browser.post(page, &format!("token={token}&{wrong}")).await;
        assert_eq!(refused.status, 400, "{page}");
        assert!(refused.body.contains(&token), "the corrected form has another token");
        let form = format!("token={token}&{right}");
        let both = [browser.post(page, &form).await, browser.post(page, &form).await];
        assert!(both[0].status == 303 && both[0].location() == both[1].location(), "{both:?}");
        assert_eq!(browser.data(list).await.as_array().unwrap().len(), count, "{page}");
    }
}

#[tokio::test]
async fn fields_of_forms_are_validated_as_those_of_the_api_and_errors_are_beside_them() {
    let browser = Browser::open().await;
    let long = "title=t&prompt=".to_owned() + &"x".repeat(15_001);
    for (path, form, field) in [
        ("/keys", "", "name"),
        ("/keys", "name=+", "name"),
        ("/keys", "name=a%00", "name"),
        ("/keys", "name=n&scope=x", "scope"),
        ("/keys", "name=n&name=m", "name"),
        ("/generate", "prompt=p", "modelId"),
        ("/generate", "modelId=m", "prompt"),
        ("/generate", "modelId=m&prompt=p&batchCount=5", "batchCount"),
        ("/generate", "modelId=m&prompt=p&seed=-1", "seed"),
        ("/generate", "modelId=m&prompt=p&vaultId=999", "vaultId"),
        ("/prompts/new", "prompt=p", "title"),
        ("/prompts/new", &long, "prompt"),
        ("/prompts/new", "title=t&prompt=p&promptType=image", "modelId"),
        ("/prompts/new", "title=t&prompt=p&vaultId=999", "vaultId"),
    ] {
        let refused = browser.post(path, form).await;
        assert_eq!(refused.status, 400, "{path} {form}: {}", refused.body);
        let parts = [format!("id=\"{field}-error\""), format!("href=\"#{field}\"")];
        assert_has(&refused.body, &[&parts[0], &parts[1]]);
    }
}

#[tokio::test]
async fn a_refused_form_keeps_everything_typed_and_says_what_is_wrong() {
    let browser = Browser::open().await;
    let long = "x".repeat(51);
    for (path, fields, parts) in [
        (
            "/prompts/new",
            &[
                ("title", ""),
                ("prompt", "<b> first\r\nsecond"),
                ("promptType", "video"),
                ("platform", "P\""),
                ("modelId", "other/m"),
            ][..],
            &[
                ">\n&lt;b&gt; first\r\nsecond</textarea>",
                "<option value=\"video\" dir=\"auto\" selected>",
                "value=\"P&quot;\"",
                "value=\"other/m\"",
                "Title is required",
                "Model must be a model id that begins with local/",
            ][..],
        ),
        (
            "/vaults/new",
            &[("name", &*long), ("description", "Kept text"), ("visibility", "public")],
            &["must be 1 to 50 characters", &*long, "Kept text", "value=\"public\" checked"],
        ),
        (
            "/vaults/1/edit",
            &[("name", "Other"), ("visibility", "private")],
            &["system vault", "Other"],
        ),
    ] {
        assert_has(&browser.refused(path, fields).await, parts);
    }
    browser.submit("/vaults/1/edit", &[("name", "General"), ("visibility", "unlisted")]).await;
    assert_eq!(browser.data("/vaults/1").await["visibility"], "unlisted");
    assert_eq!(browser.post("/vaults/1/delete", "").await.status, 400);
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

#[tokio::test]
async fn one_session_and_all_others_can_be_ended() {
    let browser = Browser::open().await;
    let others = [sign_in(&browser.server).await, sign_in(&browser.server).await];
    let page = browser.page("/sessions").await;
    assert_eq!(page.matches("(this browser)").count(), 1, "{page}");
    let end_one = format!("/sessions/{}", attribute(&page, "action=\"/sessions/"));
    for (path, expected) in [("", 2), (&*end_one, 1), ("/sessions/end-others", 0)] {
        if !path.is_empty() {
            browser.post(path, "").await;
        }
        let mut alive = 0;
        for cookie in &others {
            let response = send(&browser.server, request("GET", "/", cookie, "")).await;
            alive += usize::from(response.status == 200);
        }
        assert_eq!(alive, expected, "after {path}");
    }
    browser.page("/sessions").await;
}

#[tokio::test]
async fn line_breaks_of_forms_are_stored_as_one_character() {
    let browser = Browser::open().await;
    let created = browser.post("/prompts/new", "title=t&prompt=First%0D%0Asecond").await;
    assert!(browser.page(created.location()).await.contains("First\nsecond"));
    let page = browser.page(&created.location().replace('?', "/edit?")).await;
    assert_has(&page, &["value=\"t\"", ">\nFirst\nsecond"]);
}

/// Of the forms for several prompts. Those of a vault know its members.
#[tokio::test]
async fn what_is_chosen_in_a_list_must_be_there_and_may_be_gone() {
    let browser = Browser::open().await;
    let ids = [browser.prompt("first", Some(1)).await, browser.prompt("second", Some(1)).await];
    let member = browser.data("/vaults/1/prompts").await[0]["vaultPromptId"].to_string();
    let sea = browser.vault("Sea", "private").await;
    let chosen = format!("id={}&back=type%3Dtext%26x%3Dy", ids[0]);
    let moving = format!("{chosen}&action=move&from=1&vaultId={sea}");
    let (deleting, back) = (format!("{chosen}&action=delete&sure=yes"), "/prompts?type=text&done=");
    for (path, form, status, location) in [
        ("/prompts/chosen", "id=1&action=x", 400, ""),
        ("/prompts/chosen", "id=x&action=add", 400, ""),
        ("/prompts/chosen", "id=1&action=add&vaultId=x", 400, ""),
        ("/prompts/chosen", "action=delete&sure=yes&back=", 303, "/prompts?done=none-chosen"),
        ("/prompts/chosen", &moving, 303, "prompts-moved"),
        ("/prompts/chosen", &moving, 303, "prompts-moved"),
        ("/vaults/1/prompts", &format!("vaultPromptId={member}&action=other"), 404, ""),
        ("/vaults/1/prompts", "vaultPromptId=x&action=pin", 404, ""),
        ("/vaults/1/prompts", "vaultPromptId=999&action=pin", 404, ""),
        ("/vaults/1/prompts", "action=remove", 303, "none-chosen"),
        ("/vaults/1/prompts", &format!("vaultPromptId={member}&action=cover"), 303, "no-picture"),
        ("/vaults/1/prompts", &format!("vaultPromptId={member}&action=remove"), 303, "done=remove"),
        ("/prompts/chosen", &deleting, 303, "prompts-deleted"),
        ("/prompts/chosen", &deleting, 303, "prompts-deleted"),
        (&format!("/prompts/{}/delete", ids[0]), "", 404, ""),
    ] {
        let sent = browser.post(path, form).await;
        assert_eq!(sent.status, status, "{path} {form}");
        assert!(sent.location().ends_with(location), "{path} {form}: {}", sent.location());
        if form.starts_with(&chosen) {
            assert_eq!(sent.location(), format!("{back}{location}"));
        }
    }
}
