//! The account: its name, an export and an import, its deletion; and the way back after signing in.

use serde_json::{Value, json};

use super::uploads::multipart;
use super::vaults::{FOREIGN, encoded, two_accounts};
use super::{Browser, HOSTILE};
use crate::support::browser::{FORM, OWN, code, request, send};
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
        assert!(page.contains(part) && page.contains(&format!("value=\"{name}\"")), "{page}");
    }
    let page = alice.submit("/account/name", &[("name", "c<b>arol")]).await;
    assert!(
        page.contains("The account has a new name.") && page.contains("c&lt;b&gt;arol"),
        "{page}"
    );
    assert_eq!(call(&alice.server, "GET", "/prompts", None).await.status, 200);
}

#[tokio::test]
async fn an_export_is_downloaded_and_imported_into_another_account() {
    let (alice, bob) = two_accounts().await;
    let vault = alice.create("/vaults", json!({ "name": "Sky", "visibility": "public" })).await;
    let body = json!({ "title": HOSTILE, "prompt": "Stars", "vaultId": vault["id"] });
    alice.create("/prompts", body).await;
    let export = alice.get("/account/export").await;
    assert_eq!(export.header("content-type"), Some("application/json"), "{export:?}");
    assert!(export.header("content-disposition").unwrap().starts_with("attachment"));
    let document: Value = serde_json::from_str(&export.body).unwrap();
    assert_eq!(document["vaults"][1]["name"], "Sky");

    let file = multipart(&[], Some(export.body.as_bytes()));
    let response = bob.send_file("/account/import", &file).await;
    assert_eq!(response.status, 303, "{response:?}");
    let page = bob.page(response.header("location").unwrap()).await;
    assert!(page.contains("The prompts and vaults of the file are added."), "{page}");
    assert_eq!(bob.data("/prompts").await[0]["title"], HOSTILE);
    assert_eq!(bob.data("/vaults").await.as_array().unwrap().len(), 2);

    let wrong = export.body.replace("\"prompt\":\"Stars\"", "\"prompt\":\"\"");
    for (file, part) in [
        (multipart(&[], Some(wrong.as_bytes())), "prompts: entry 1 (prompt: must be 1 to 15000"),
        (multipart(&[], Some(b"<html>")), "is not JSON"),
        (multipart(&[], Some(&vec![b' '; (16 << 20) + 1])), "at most 16 MiB"),
        (multipart(&[], None), "is required"),
    ] {
        let response = bob.send_file("/account/import", &file).await;
        assert_eq!(response.status, 400, "{response:?}");
        assert!(response.body.contains(part), "no {part} in {}", response.body);
    }
    assert_eq!(bob.data("/prompts").await.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn an_account_is_deleted_by_whoever_types_its_name() {
    let (alice, bob) = two_accounts().await;
    alice.prompt("Harbour").await;
    assert!(alice.page("/account/delete").await.contains("To confirm, type its name."));
    for name in ["", "Alice", "bob", "alice "] {
        let page = alice.refused("/account/delete", &[("name", name)]).await;
        assert!(page.contains("nothing was deleted"), "{page}");
    }
    assert_eq!(alice.data("/prompts").await.as_array().unwrap().len(), 1);
    let deleted = alice.post("/account/delete", "name=alice").await;
    assert_eq!(
        (deleted.status, deleted.header("location")),
        (303, Some("/sign-in")),
        "{deleted:?}"
    );
    assert!(deleted.header("set-cookie").unwrap().contains("Max-Age=0"));
    assert_eq!(alice.get("/").await.header("location"), Some("/sign-in"));
    assert_eq!(call(&alice.server, "GET", "/prompts", None).await.status, 401);
    assert_eq!(bob.get("/").await.status, 200);
}

#[tokio::test]
async fn no_form_of_the_account_is_carried_out_for_another_site() {
    let (alice, _bob) = two_accounts().await;
    let import = String::from_utf8(multipart(&[], Some(b"{}"))).unwrap();
    for (path, body) in [
        ("/account/name", "name=evil"),
        ("/account/delete", "name=alice"),
        ("/account/import", &*import),
    ] {
        for source in FOREIGN {
            let headers = format!("{FORM}{source}{}", alice.cookie);
            let response = send(&alice.server, &request("POST", path, &headers, body)).await;
            assert_eq!(response.status, 403, "{path} {source}: {response:?}");
        }
        let anonymous =
            send(&alice.server, &request("POST", path, &format!("{FORM}{OWN}"), body)).await;
        assert_eq!(anonymous.header("location"), Some("/sign-in"), "{path}: {anonymous:?}");
    }
    assert!(alice.page("/account").await.contains("value=\"alice\""));
}

#[tokio::test]
async fn signing_in_returns_to_the_page_that_was_wanted() {
    let browser = Browser::open().await;
    let wanted = browser.visit("/prompts?type=image").await;
    assert_eq!(
        wanted.header("location"),
        Some("/sign-in?next=prompts%3Ftype%3Dimage"),
        "{wanted:?}"
    );
    let form = browser.visit(wanted.header("location").unwrap()).await.body;
    assert_eq!(super::attribute(&form, "name=\"next\" value=\""), "prompts?type=image");
    assert!(form.contains("promptarium-server sign-in ACCOUNT"), "{form}");
    for (next, place) in [
        ("prompts?type=image", "/prompts?type=image"),
        ("v/alice/sky", "/v/alice/sky"),
        ("//evil.example", "/"),
        ("/evil.example", "/"),
        ("\\evil.example", "/"),
        ("prompts\r\nset-cookie: a=b", "/"),
        ("\u{e9}", "/"),
    ] {
        let fields = encoded(&[("code", &code(&browser.server).await), ("next", next)]);
        let sent = request("POST", "/sign-in", &format!("{FORM}{OWN}"), &fields);
        let response = send(&browser.server, &sent).await;
        assert_eq!((response.status, response.header("location")), (303, Some(place)), "{next:?}");
        let page = browser.visit(&format!("/sign-in?{}", encoded(&[("next", next)]))).await;
        assert_eq!(page.body.contains("name=\"next\""), place != "/", "{next:?}: {}", page.body);
    }
}

#[tokio::test]
async fn a_session_is_shown_with_the_browser_that_it_is_in() {
    let browser = Browser::open().await;
    let agent =
        "user-agent: Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0\r\n";
    let fields = format!("code={}", code(&browser.server).await);
    let headers = format!("{FORM}{OWN}{agent}");
    let signed_in = send(&browser.server, &request("POST", "/sign-in", &headers, &fields)).await;
    assert_eq!(signed_in.status, 303);
    let page = browser.page("/sessions").await;
    for part in ["Firefox on Linux", "Unknown browser", "(this browser)", "Signed in "] {
        assert!(page.contains(part), "no {part} in {page}");
    }
}
