//! What a browser visits: one or two servers behind a proxy.

use promptarium::Client;
use promptarium_server::EmbeddedServer;
use promptarium_server::test_support::ScratchDatabase;

use crate::proxy::Proxy;

/// The name of the account, which nothing else on a page contains.
pub(crate) const ACCOUNT: &str = "kingfisher";

const SEED: &str = "promptarium_live_b1_s3cretOfTheSeed";

pub(crate) struct Site {
    pub(crate) servers: Vec<EmbeddedServer>,
    pub(crate) proxy: Proxy,
    // Dropped after the servers, which are connected to it.
    _database: Option<ScratchDatabase>,
}

impl Site {
    pub(crate) async fn start(count: usize, on_postgres: bool) -> Self {
        let database =
            if on_postgres { Some(ScratchDatabase::create().await.unwrap()) } else { None };
        let mut proxy = Proxy::bind().await;
        let mut servers = Vec::new();
        for _ in 0..count {
            let mut builder = EmbeddedServer::builder().seed_key(format!("{SEED}={ACCOUNT}"));
            builder = builder.public_url(format!("http://{}", proxy.address()));
            if let Some(database) = &database {
                builder = builder.database_url(database.url());
            }
            servers.push(builder.start().await.unwrap());
        }
        proxy.forward(servers.iter().map(EmbeddedServer::local_addr).collect());
        Self { servers, proxy, _database: database }
    }

    /// The address of a page, such as `sign-in`.
    pub(crate) fn page(&self, name: &str) -> String {
        format!("http://{}/{name}", self.proxy.address())
    }

    /// A new sign-in link, and the code in it.
    pub(crate) async fn sign_in_link(&self) -> (String, String) {
        let link = self.servers[0].sign_in_url().await.unwrap();
        let code = link.split_once('#').unwrap().1.to_owned();
        (link, code)
    }

    /// The SDK with the key of the account.
    pub(crate) fn client(&self) -> Client {
        self.client_of(0, SEED)
    }

    /// The SDK with a key at one of the servers.
    pub(crate) fn client_of(&self, server: usize, key: &str) -> Client {
        let address = format!("http://{}/api/v1", self.servers[server].local_addr());
        Client::builder().base_url(address).api_key(key).build().unwrap()
    }
}
