//! The account: its name, an export and an import, its deletion; and the way back after signing in.

use serde_json::{Value, json};

use super::pictures::multipart;
use super::texts::HOSTILE;
use crate::support::browser::{
    Browser, FORM, OWN, assert_has, code, encoded, request, send, two_accounts,
};
use crate::support::client::call;

#[tokio::test]
async fn an_account_gets_a_new_name_that_is_free() {
    let (alice, _bob) = two_accounts().await;
    for (name, part) in [
        ("bob", "is the name of another account"),
        ("two words", "is not an account name"),
        ("a:b", "is not an account name"),
        ("", "is required"),
    ] {
        let page = alice.refused("/account/name", &[("name", name)]).await;
        assert_has(&page, &[part, &format!("value=\"{name}\"")]);
    }
    let page = alice.submit("/account/name", &[("name", "c<b>arol")]).await;
    assert_has(&page, &["Account renamed.", "c&lt;b&gt;arol"]);
    alice.data("/prompts").await;
}

#[tokio::test]
async fn an_export_is_downloaded_and_imported_into_another_account() {
    let (alice, bob) = two_accounts().await;
    let vault = alice.vault("Sky", "public").await;
    let body = json!({ "title": HOSTILE, "prompt": "Stars", "vaultId": vault });
    let stars = alice.create("/prompts", body).await["id"].to_string();
    let body = json!({ "title": "t", "prompt": "p", "promptType": "image", "modelId": "local/m" });
    let picture = alice.create("/prompts", body).await["id"].to_string();
    let export = alice.get("/account/export").await;
    assert_eq!(export.header("content-type"), Some("application/json"), "{export:?}");
    assert!(export.header("content-disposition").unwrap().starts_with("attachment"));
    let document: Value = serde_json::from_str(&export.body).unwrap();
    assert_eq!(document["vaults"][1]["name"], "Sky");

    let file = multipart(&[], Some(export.body.as_bytes()));
    let response = bob.send_file("/account/import", &file).await;
    assert_eq!(response.status, 303, "{response:?}");
    assert_has(&bob.page(response.location()).await, &["Import finished."]);
    assert_eq!(bob.data("/prompts").await[1]["title"], HOSTILE);
    assert_eq!(bob.data("/vaults").await.as_array().unwrap().len(), 2);

    let large = (Some(vec![b' '; (16 << 20) + 1]), "at most 16 MiB");
    let mut files = vec![large, (None, "is required")];
    let (member, second) = (format!(r#"{{"id":{stars},"isPin"#), format!(r#""id":{picture},"ti"#));
    for (from, to, part) in [
        (r#""prompt":"Stars""#, r#""prompt":"""#, "prompts: entry 2 (prompt: must be 1 to 15000"),
        (r#""prompt":"Stars""#, r#""prompt":3"#, "(prompt: must be a string, but is a number)"),
        (r#""prompt":"Stars""#, r#""promt":"""#, "prompts: entry 2 (prompt: is required)"),
        (r#""modelId":"local/m""#, r#""modelId":null"#, "entry 1 (modelId: is required for"),
        (&member, r#"{"id":99,"isPin"#, "names no prompt of the file: 99"),
        (&second, &second.replace(&picture, &stars), "prompts: entry 2 has the id"),
        (r#""visibility":"public""#, r#""visibility":"x""#, "vaults: entry 2 (visibility: "),
        (r#""createdAt":"20"#, r#""createdAt":"00"#, "createdAt: must be a time"),
        (r#""version":1"#, r#""version":2"#, "version: must be 1 to 1, but is 2"),
        (r#""promptarium-account""#, r#""other""#, "format: must be one of promptarium-account"),
        ("]}\n", "]\n", "is not JSON"),
    ] {
        assert!(export.body.contains(from), "{from} in {}", export.body);
        let file = export.body.replacen(from, to, 1);
        files.push((Some(file.into_bytes()), part));
    }
    for (file, part) in files {
        let form = multipart(&[], file.as_deref());
        let response = bob.send_file("/account/import", &form).await;
        assert_eq!(response.status, 400, "{part}: {response:?}");
        assert_has(&response.body, &[part]);
    }
    assert_eq!(bob.data("/prompts").await.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn an_account_is_deleted_by_whoever_types_its_name() {
    let (alice, bob) = two_accounts().await;
    alice.prompt("Harbour", None).await;
    for name in ["", "Alice", "bob", "alice "] {
        let page = alice.refused("/account/delete", &[("name", name)]).await;
        assert!(page.contains("nothing was deleted"), "{page}");
    }
    assert_eq!(alice.data("/prompts").await.as_array().unwrap().len(), 1);
    let deleted = alice.post("/account/delete", "name=alice").await;
    assert_eq!((deleted.status, deleted.location()), (303, "/sign-in"), "{deleted:?}");
    assert!(deleted.header("set-cookie").unwrap().contains("Max-Age=0"));
    assert_eq!(alice.get("/").await.location(), "/sign-in");
    assert_eq!(call(&alice.server, "GET", "/prompts", None).await.status, 401);
    assert_eq!(bob.get("/").await.status, 200);
}

#[tokio::test]
async fn signing_in_returns_to_the_page_that_was_wanted_and_to_no_other_site() {
    let browser = Browser::open().await;
    for (next, place) in [
        ("prompts?type=image", "/prompts?type=image"),
        ("//evil.example", "/"),
        ("prompts\r\nset-cookie: a=b", "/"),
    ] {
        let page = browser.visit(&format!("/sign-in?{}", encoded(&[("next", next)]))).await;
        let is_kept = page.body.contains(&format!("name=\"next\" value=\"{next}\""));
        assert_eq!(is_kept, place != "/", "{next:?}: {}", page.body);
        let fields = encoded(&[("code", &code(&browser.server).await), ("next", next)]);
        let sent = request("POST", "/sign-in", &format!("{FORM}{OWN}"), &fields);
        let response = send(&browser.server, sent).await;
        assert_eq!((response.status, response.location()), (303, place), "{next:?}");
    }
}
