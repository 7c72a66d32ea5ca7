//! What a browser visits: a server on one of the stores.

use promptarium::Client;
use promptarium_server::EmbeddedServer;
use promptarium_server::test_support::ScratchDatabase;

/// The name of the account, which nothing else on a page contains.
pub(crate) const ACCOUNT: &str = "kingfisher";

const SEED: &str = "promptarium_live_b1_s3cretOfTheSeed";

pub(crate) struct Site {
    pub(crate) server: EmbeddedServer,
    // Dropped after the server, which is connected to it.
    _database: Option<ScratchDatabase>,
}

impl Site {
    pub(crate) async fn start(on_postgres: bool) -> Self {
        let mut builder = EmbeddedServer::builder().seed_key(format!("{SEED}={ACCOUNT}"));
        let mut database = None;
        if on_postgres {
            let scratch = database.insert(ScratchDatabase::create().await.unwrap());
            builder = builder.database_url(scratch.url());
        }
        Self { server: builder.start().await.unwrap(), _database: database }
    }

    /// The address of a page, such as `sign-in`.
    pub(crate) fn page(&self, name: &str) -> String {
        format!("http://{}/{name}", self.server.local_addr())
    }

    /// A new sign-in link, and the code in it.
    pub(crate) async fn sign_in_link(&self) -> (String, String) {
        let link = self.server.sign_in_url().await.unwrap();
        let code = link.split_once('#').unwrap().1.to_owned();
        (link, code)
    }

    /// The SDK with the key of the account.
    pub(crate) fn client(&self) -> Client {
        Client::builder().base_url(self.server.base_url()).api_key(SEED).build().unwrap()
    }
}
