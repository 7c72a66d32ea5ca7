//! The dashboard over a socket: what each page shows. The tests in a browser have what a person does
//! with prompts, vaults, keys and pictures.

mod account;
mod forms;
mod generations;
mod lists;
mod refusals;
mod texts;
mod uploads;
mod vaults;

use promptarium_server::EmbeddedServer;

use crate::support::browser::{Browser, assert_has, code, cookie_of, send, sign_in_request};

/// Pages of an empty account: address, heading, and what an empty list says.
const PAGES: [(&str, &str, &str); 6] = [
    ("/", "Overview", "You have no prompts."),
    ("/prompts", "Prompts", "There is no prompt."),
    ("/vaults", "Vaults", "0 prompts"),
    ("/jobs", "Jobs", "There is no job."),
    ("/keys", "Keys", "never used"),
    ("/sessions", "Sessions", "(this browser)"),
];

#[tokio::test]
async fn every_page_has_its_heading_title_and_place_in_the_navigation_and_links_lead_somewhere() {
    let browser = Browser::open().await;
    for (path, heading, empty) in PAGES {
        let page = browser.page(path).await;
        assert_eq!(page.matches("<h1>").count(), 1, "{path}");
        let parts = [
            &*format!("<h1>{heading}</h1>"),
            &format!("<title>{heading} – Promptarium</title>"),
            &format!("<a href=\"{path}\" aria-current=\"page\">{heading}</a>"),
            "<a class=\"skip\" href=\"#content\">",
            "<main id=\"content\"",
            empty,
        ];
        assert_has(&page, &parts);
    }
    for rest in browser.page("/").await.split("href=\"/").skip(1) {
        let path = format!("/{}", rest.split('"').next().unwrap());
        assert_eq!(browser.get(&path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn https_is_remembered_where_clients_reach_the_service_by_it() {
    for (public, expected) in
        [("https://prompts.example/behind", Some("max-age=31536000")), ("http://h", None)]
    {
        let server = EmbeddedServer::builder().public_url(public).start().await.unwrap();
        let browser = Browser { server, cookie: String::new() };
        let page = browser.get("/sign-in").await;
        assert_eq!(page.header("strict-transport-security"), expected, "{public}");
    }
}

#[tokio::test]
async fn behind_a_path_all_links_have_it() {
    let builder = EmbeddedServer::builder().public_url("http://prompts.example/behind");
    let server = builder.start().await.unwrap();
    let signed_in = send(&server, sign_in_request(&code(&server).await, "")).await;
    let browser = Browser { server, cookie: cookie_of(&signed_in) };
    for (path, ..) in PAGES {
        let page = browser.page(path).await;
        for link in ["href=\"/", "action=\"/"] {
            let strays = page.split(link).skip(1).filter(|rest| !rest.starts_with("behind/"));
            assert_eq!(strays.count(), 0, "{path}: {page}");
        }
    }
}
