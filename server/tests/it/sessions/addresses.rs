//! Several servers of one host, and a server that is opened at another address than its own.

use std::collections::BTreeMap;

use promptarium_server::EmbeddedServer;
use serde_json::json;

use crate::support::browser::{FORM, OWN, code, request, send};
use crate::support::client::Connection;
use crate::support::program::Running;

/// The cookies of a browser, which sends all of a host to all of its ports.
#[derive(Default)]
struct Jar(BTreeMap<String, String>);

impl Jar {
    /// Sends a request, and keeps the cookies of the response; gives its status.
    async fn send(&mut self, server: &EmbeddedServer, method: &str, path: &str, body: &str) -> u16 {
        let pairs: Vec<_> = self.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let headers = format!("{FORM}{OWN}cookie: {}\r\n", pairs.join("; "));
        let response = send(server, request(method, path, &headers, body)).await;
        for (_, set) in response.headers.iter().filter(|(name, _)| name == "set-cookie") {
            let (name, value) = set.split(';').next().unwrap().split_once('=').unwrap();
            self.0.insert(name.to_owned(), value.to_owned());
        }
        self.0.retain(|_, value| !value.is_empty());
        response.status
    }
}

#[tokio::test]
async fn servers_of_one_host_sign_nobody_out_of_each_other() {
    let servers = [EmbeddedServer::start().await.unwrap(), EmbeddedServer::start().await.unwrap()];
    let mut jar = Jar::default();
    for (server, path, expected) in [
        (0, "/sign-in", [200, 303]),
        (1, "/sign-in", [200, 200]),
        (1, "/sign-out", [200, 303]),
        (1, "/sign-in", [200, 200]),
        (0, "/sign-out", [303, 200]),
        (1, "/sign-out", [303, 303]),
        (0, "/sign-in", [200, 303]),
    ] {
        let form = format!("code={}", code(&servers[server]).await);
        assert_eq!(jar.send(&servers[server], "POST", path, &form).await, 303, "{path}");
        let statuses = [
            jar.send(&servers[0], "GET", "/", "").await,
            jar.send(&servers[1], "GET", "/", "").await,
        ];
        assert_eq!(statuses, expected, "{path} at {server}");
    }
    // A client that knows the cookie without the port is signed in.
    let port = servers[0].local_addr().port();
    assert!(jar.0.remove(&format!("promptarium_session_{port}")).is_some(), "{:?}", jar.0);
    assert_eq!((jar.0.len(), jar.send(&servers[0], "GET", "/", "").await), (1, 200));
}

#[tokio::test]
async fn opened_at_another_address_the_page_and_the_log_name_both_and_the_flag() {
    let mut server = Running::start("--log-format json").await;
    let text = format!(
        "this page was opened at http://192.0.2.2:18140, but the address of this server is {}; \
         open it there, or start the server with `--public-url http://192.0.2.2:18140`",
        server.root()
    );
    let sent =
        request("POST", "/sign-in", &format!("{FORM}origin: http://192.0.2.2:18140\r\n"), "");
    let sent = sent.replace("host: test", "host: 192.0.2.2:18140");
    let refused = Connection::to(&server).await.ask(sent).await;
    assert!(refused.status == 403 && refused.body.contains(&text), "{refused:?}");
    let event = server.event("answered").await;
    assert_eq!((&event["status"], &event["cause"]), (&json!(403), &json!(text)));
}
