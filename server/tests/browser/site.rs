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
    pub(crate) async fn in_memory() -> Self {
        Self::start(1, None).await
    }

    pub(crate) async fn on_postgres() -> Self {
        Self::start(1, Some(ScratchDatabase::create().await.unwrap())).await
    }

    /// Two servers of one database.
    pub(crate) async fn of_two_servers() -> Self {
        Self::start(2, Some(ScratchDatabase::create().await.unwrap())).await
    }

    async fn start(count: usize, database: Option<ScratchDatabase>) -> Self {
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
        self.client_with(SEED)
    }

    pub(crate) fn client_with(&self, key: &str) -> Client {
        let client = Client::builder().base_url(self.servers[0].base_url()).api_key(key);
        client.build().unwrap()
    }
}
