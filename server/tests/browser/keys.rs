//! Keys, as a person makes and revokes them.

use promptarium::Client;

use crate::browser::Browser;
use crate::site::Site;
use crate::tests_on;

tests_on!(in_memory: a_key_is_shown_once_and_works_until_it_is_revoked);
tests_on!(on_postgres: a_key_is_shown_once_and_works_until_it_is_revoked);
tests_on!(of_two_servers: servers_of_one_database_share_sessions_and_keys);

/// Creates a key on the page of keys; gives the key.
async fn create_key(browser: &mut Browser, name: &str) -> String {
    browser.fill("name", name).await;
    browser.click("Create key").await;
    browser.see("Copy it now").await;
    let line = browser.find("//pre").await.text().await;
    let key = line.strip_prefix("export PROMPTARIUM_API_KEY=").unwrap().to_owned();
    browser.keep_secret(&key);
    key
}

async fn works(client: &Client) -> bool {
    match client.vaults().list().await {
        Ok(_) => true,
        Err(error) if error.is_unauthorized() => false,
        Err(error) => panic!("{error}"),
    }
}

async fn a_key_is_shown_once_and_works_until_it_is_revoked(site: Site) {
    let mut browser = Browser::start().await;
    browser.sign_in(&site).await;
    browser.click("Keys").await;
    let key = create_key(&mut browser, "laptop").await;
    let client = site.client_with(&key);
    assert!(works(&client).await);

    browser.click("I have copied it; show all keys").await;
    browser.see("laptop").await;
    // A browser that is asked to does send the form again, which makes another key.
    browser.driver.back().await;
    browser.check_source().await;
    browser.driver.refresh().await;
    browser.check_source().await;

    browser.open(&site.page("keys")).await;
    browser.click("Revoke laptop").await;
    browser.click("Revoke this key").await;
    browser.see("Revoked").await;
    assert!(!works(&client).await);
    browser.end(&site).await;
}

async fn servers_of_one_database_share_sessions_and_keys(site: Site) {
    /// The server that had the last request of this kind.
    fn server_of(site: &Site, line: &str) -> usize {
        let heads = site.proxy.heads();
        heads.iter().rposition(|head| head.starts_with(line)).unwrap() % site.servers.len()
    }

    let mut browser = Browser::start().await;
    browser.sign_in(&site).await;
    let signed_in_on = server_of(&site, "POST /sign-in ");
    // Each page is one more request, so that the form reaches either server soon.
    let key = loop {
        browser.open(&site.page("keys")).await;
        let key = create_key(&mut browser, "shared").await;
        if server_of(&site, "POST /keys ") != signed_in_on {
            break key;
        }
        browser.open(&site.page("sessions")).await;
        browser.see("this browser").await;
    };
    for server in &site.servers {
        let address = format!("http://{}/api/v1", server.local_addr());
        let client = Client::builder().base_url(address).api_key(&key).build().unwrap();
        assert!(works(&client).await);
    }
    browser.end(&site).await;
}
