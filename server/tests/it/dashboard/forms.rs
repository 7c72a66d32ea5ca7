//! What the forms of the dashboard do, and what they say of wrong fields.

use super::PAGES;
use crate::support::browser::{
    Browser, OWN, assert_has, attribute, code, cookie_of, request, send, sign_in, sign_in_request,
};
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
    for (method, revoke, expected) in
        [("GET", false, 200), ("POST", false, 401), ("GET", true, 401)]
    {
        if revoke {
            let id = key.split('_').nth(2).unwrap();
            browser.submit(&format!("/keys/{id}/revoke"), &[]).await;
        }
        let sent = connection.api(key, method, "/vaults", None).await;
        assert_eq!(sent.status, expected, "{method} {revoke}");
    }
}

#[tokio::test]
async fn sending_a_form_twice_makes_one() {
    let browser = Browser::open().await;
    let form = format!("token={}&name=Laptop", browser.token("/keys").await);
    assert!(browser.post("/keys", &form).await.body.contains("export PROMPTARIUM_API_KEY="));
    let again = browser.post("/keys", &form).await;
    let keys = browser.page(again.location()).await;
    assert_eq!(keys.matches("<bdi>Laptop</bdi>").count(), 2, "one with its button: {keys}");
    assert!(keys.contains("This key was already created."), "{keys}");

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
        let other = browser.post(page, &form.replace("S", "s").replace("O", "o")).await;
        assert_ne!(other.location(), both[0].location(), "other fields after going back");
    }
    // A change can be made again, also with the same form.
    let token = browser.token("/prompts/1/edit").await;
    for title in ["First", "Second"] {
        let form = format!("token={token}&title={title}&prompt=p");
        browser.post("/prompts/1/edit", &form).await;
        assert_eq!(browser.data("/prompts/1").await["title"], title);
    }
}

#[tokio::test]
async fn a_refused_form_keeps_what_was_typed_and_has_the_error_of_the_api_beside_its_field() {
    let browser = Browser::open().await;
    let long = "title=t&prompt=".to_owned() + &"x".repeat(15_001);
    let typed =
        "title=&prompt=%3Cb%3E+first%0D%0Asecond&promptType=video&platform=P%22&modelId=o/m";
    let vault = format!("name={}&description=Kept+text&visibility=public", "x".repeat(51));
    for (path, form, field, parts) in [
        ("/keys", "", "name", &["is required"][..]),
        ("/keys", "name=+", "name", &[]),
        ("/keys", "name=a%00", "name", &[]),
        ("/keys", "name=n&scope=x", "scope", &["value=\"n\""]),
        ("/keys", "name=n&name=m", "name", &[]),
        ("/generate", "prompt=p", "modelId", &["\np</textarea>"]),
        ("/generate", "modelId=m", "prompt", &["value=\"m\""]),
        ("/generate", "modelId=m&prompt=p&batchCount=5", "batchCount", &[]),
        ("/generate", "modelId=m&prompt=p&seed=-1", "seed", &["value=\"-1\""]),
        ("/generate", "modelId=m&seed=x", "seed", &["id=\"prompt-error\""]),
        ("/generate", "modelId=m&prompt=p&vaultId=999", "vaultId", &[]),
        ("/prompts/new", &long, "prompt", &["must be 1 to 15000 characters"]),
        ("/prompts/new", "title=t&prompt=p&promptType=image", "modelId", &["selected>image"]),
        ("/prompts/new", "title=t&prompt=p&vaultId=999", "vaultId", &[]),
        (
            "/prompts/new",
            typed,
            "title",
            &[
                ">\n&lt;b&gt; first\r\nsecond</textarea>",
                "selected>video",
                "value=\"P&quot;\"",
                "value=\"o/m\"",
                "Model must be a model id that begins with local/",
            ],
        ),
        ("/vaults/new", &vault, "name", &["must be 1 to 50", "Kept text", "selected>public"]),
        ("/vaults/1/edit", "name=Other&visibility=private", "", &["system vault", "Other"]),
    ] {
        let refused = browser.post(path, form).await;
        assert_eq!(refused.status, 400, "{path} {form}: {}", refused.body);
        assert_has(&refused.body, parts);
        if !field.is_empty() {
            let parts = [format!("id=\"{field}-error\""), format!("href=\"#{field}\"")];
            assert_has(&refused.body, &[&parts[0], &parts[1]]);
        }
    }
    browser.submit("/vaults/1/edit", &[("name", "General"), ("visibility", "unlisted")]).await;
    assert_eq!(browser.data("/vaults/1").await["visibility"], "unlisted");
    assert_eq!(browser.post("/vaults/1/delete", "").await.status, 400);
}

#[tokio::test]
async fn what_was_done_is_said_by_a_fixed_text_only() {
    let browser = Browser::open().await;
    for (text, is_said) in
        [("delete", true), ("Your+key+is+lost", false), ("%3Cb%3E", false), ("delete%20", false)]
    {
        let page = browser.page(&format!("/prompts?done={text}")).await;
        let has = page.contains("role=\"status\">Deleted.");
        assert_eq!((has, page.contains("role=\"status\"")), (is_said, is_said), "{text}: {page}");
    }
}

#[tokio::test]
async fn one_session_and_all_others_can_be_ended() {
    let browser = Browser::open().await;
    let agent =
        "user-agent: Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0\r\n";
    let signed_in = sign_in_request(&code(&browser.server).await, agent);
    let others =
        [cookie_of(&send(&browser.server, signed_in).await), sign_in(&browser.server).await];
    let page = browser.page("/sessions").await;
    assert_eq!(page.matches("(this browser)").count(), 1, "{page}");
    let agent = "<bdi>Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Fir</bdi>";
    assert_has(&page, &[agent, "Unknown browser"]);
    let end_one = format!("/sessions/{}", attribute(&page, "action=\"/sessions/"));
    for (path, expected) in [("/nothing", 2), (&*end_one, 1), ("/sessions/end-others", 0)] {
        browser.post(path, "").await;
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
    let page = browser.page("/prompts/1/edit").await;
    assert_has(&page, &["value=\"t\"", ">\nFirst\nsecond"]);
}

#[tokio::test]
async fn chosen_prompts_are_changed_and_may_be_gone_and_the_page_before_is_shown_again() {
    let browser = Browser::open().await;
    for title in ["first", "second"] {
        browser.prompt(title, Some(1)).await;
    }
    let sea = browser.vault("Sea", "private").await.to_string();
    let titles = async |vault: &str| {
        let prompts = browser.data(&format!("/vaults/{vault}/prompts")).await;
        let pin = |one: &serde_json::Value| if one["isPinned"] == true { "*" } else { "" };
        let title =
            |one: &serde_json::Value| format!("{}{}", pin(one), one["title"].as_str().unwrap());
        prompts.as_array().unwrap().iter().map(title).collect::<Vec<_>>().join(" ")
    };
    for (form, status, done, general, in_sea) in [
        ("id=1&action=x&from=1", 400, "", "second first", ""),
        ("id=9&action=%00&from=1", 400, "", "second first", ""),
        ("id=1&action=pin", 400, "", "second first", ""),
        ("id=1&action=move&from=1", 400, "", "second first", ""),
        ("id=1&action=add", 400, "", "second first", ""),
        ("id=x&action=add", 400, "", "second first", ""),
        ("id=1&action=add&vaultId=x", 400, "", "second first", ""),
        ("action=delete", 303, "none-chosen", "second first", ""),
        ("id=1&action=pin&from=1", 303, "pin", "*first second", ""),
        ("id=1&id=2&action=pin&from=1", 303, "pin", "*second *first", ""),
        ("id=1&id=2&action=unpin&from=1", 303, "unpin", "second first", ""),
        ("id=1&id=2&action=add&vaultId=SEA", 303, "add", "second first", "second first"),
        ("id=2&action=remove&from=SEA", 303, "remove", "second first", "first"),
        ("id=2&action=remove&from=SEA", 303, "remove", "second first", "first"),
        ("id=2&action=cover&from=1", 303, "no-picture", "second first", "first"),
        ("id=2&action=move&from=1&vaultId=SEA", 303, "move", "first", "second first"),
        ("id=1&action=delete", 303, "delete", "", "second"),
        ("id=1&action=delete", 303, "delete", "", "second"),
    ] {
        let form = format!("{}&back=prompts%3Ftype%3Dtext", form.replace("SEA", &sea));
        let sent = browser.post("/prompts/chosen", &form).await;
        assert_eq!(sent.status, status, "{form}");
        let page = format!("/prompts?type=text&done={done}");
        assert_eq!(sent.location(), if status == 303 { &*page } else { "" }, "{form}");
        assert_eq!((&*titles("1").await, &*titles(&sea).await), (general, in_sea), "{form}");
    }
    for back in ["//evil.example", "prompts%23x"] {
        let sent = browser.post("/prompts/chosen", &format!("action=add&back={back}")).await;
        assert_eq!(sent.location(), "/prompts?done=none-chosen", "{back}");
    }
}

#[tokio::test]
async fn an_action_with_another_vault_is_only_where_there_is_one() {
    let browser = Browser::open().await;
    browser.prompt("first", Some(1)).await;
    for (page, has_other) in [("/prompts", true), ("/vaults/1", false)] {
        assert_eq!(browser.page(page).await.contains("value=\"add\""), has_other, "{page}");
    }
}

#[tokio::test]
async fn the_model_of_a_prompt_cannot_be_removed_and_its_ratio_can() {
    let browser = Browser::open().await;
    let prompt = "title=t&prompt=p&modelId=local%2Fa&aspectRatio=4%3A3";
    browser.post("/prompts/new", prompt).await;
    let edit = async |form: &str| browser.post("/prompts/1/edit", form).await.status;
    assert_eq!(edit("title=t&prompt=p&modelId=&aspectRatio=4%3A3").await, 400);
    assert!(browser.page("/prompts/1").await.contains("<bdi>4:3</bdi>"));
    assert_eq!(edit("title=t&prompt=p&modelId=local%2Fb&aspectRatio=").await, 303);
    let page = browser.page("/prompts/1").await;
    assert!(page.contains("local/b") && !page.contains("<bdi>4:3</bdi>"), "{page}");
}

#[tokio::test]
async fn the_query_of_a_post_is_not_its_form() {
    let browser = Browser::open().await;
    for (media, status) in [("multipart/form-data", 415), ("multipart/form-data; boundary=X", 400)]
    {
        let headers = format!("content-type: {media}\r\n{OWN}{}", browser.cookie);
        let sent = request("POST", "/vaults/new?name=Sky&visibility=public", &headers, "");
        assert_eq!(send(&browser.server, sent).await.status, status, "{media}");
    }
}
