//! The dashboard over a socket. The tests in a browser have what needs one: scripts, files, the back
//! button, and how pages look.

mod account;
mod forms;
mod generations;
mod lists;
mod pictures;
mod refusals;
mod texts;
mod vaults;

use promptarium_server::EmbeddedServer;

use crate::support::browser::{Browser, assert_has};

/// Pages of an empty account: address, heading, and what an empty list says.
const PAGES: [(&str, &str, &str); 7] = [
    ("/", "Overview", "No prompts yet."),
    ("/prompts", "Prompts", "No prompts yet."),
    ("/vaults", "Vaults", "0 prompts"),
    ("/jobs", "Jobs", "No jobs yet."),
    ("/keys", "Keys", "never used"),
    ("/sessions", "Sessions", "(this browser)"),
    ("/account", "Account", "Type the account name to confirm"),
];

#[tokio::test]
async fn every_page_has_its_heading_title_and_place_in_the_navigation_and_links_lead_somewhere() {
    let browser = Browser::open().await;
    for (path, heading, empty) in PAGES {
        let page = browser.page(path).await;
        assert_eq!(page.matches("<h1>").count(), 1, "{path}");
        let parts = [
            &*format!("<h1><bdi>{heading}</bdi></h1>"),
            &format!("<title>\u{2068}{heading}\u{2069} – Promptarium</title>"),
            &format!("<a href=\"{path}\" aria-current=\"page\">{heading}</a>"),
            "<a class=\"skip\" href=\"#content\">",
            "<main id=\"content\"",
            empty,
        ];
        assert_has(&page, &parts);
        for rest in page.split("href=\"/").skip(1) {
            let path = format!("/{}", rest.split('"').next().unwrap());
            assert_eq!(browser.get(&path).await.status, 200, "{path}");
        }
    }
}

#[tokio::test]
async fn behind_a_path_all_links_have_it_and_https_is_remembered() {
    let builder = EmbeddedServer::builder().public_url("https://prompts.example/behind");
    let browser = Browser::on(builder.start().await.unwrap()).await;
    for (path, ..) in PAGES {
        let page = browser.get(path).await;
        let remembered = page.header("strict-transport-security");
        assert_eq!((page.status, remembered), (200, Some("max-age=31536000")), "{path}");
        for link in ["href=\"/", "action=\"/"] {
            let strays = page.body.split(link).skip(1).filter(|rest| !rest.starts_with("behind/"));
            assert_eq!(strays.count(), 0, "{path}: {page:?}");
        }
    }
    let page = Browser::open().await.get("/").await;
    assert_eq!(page.header("strict-transport-security"), None);
}
