//! The server or a peer, as a process of its own.

use std::fs::{File, OpenOptions};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use http::{Method, StatusCode};
use reqwest::Client;
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::load::{KEYS, PROMPTS, TEXT, key_of, prompt_of};
use crate::{Failure, Result};

/// Killed when it is dropped.
pub(crate) struct Program {
    name: String,
    process: Child,
    pub(crate) base_url: String,
    /// What it writes to stderr.
    log: NamedTempFile,
    client: Client,
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Program {
    pub(crate) async fn start_server(path: &Path, database: Option<&str>) -> Result<Self> {
        let mut arguments = Vec::new();
        for account in 0..KEYS {
            arguments.push(format!("--seed-key={}=bench-{account}", key_of(account)));
        }
        arguments.push(match database {
            Some(url) => format!("--database-url={url}"),
            None => "--data=memory:".to_owned(),
        });
        Self::start(path, |address| [vec![format!("--listen={address}")], arguments].concat()).await
    }

    pub(crate) async fn start_peer(path: &Path, database: &str) -> Result<Self> {
        Self::start(path, |address| vec![address.to_owned(), database.to_owned()]).await
    }

    async fn start(path: &Path, arguments: impl FnOnce(&str) -> Vec<String>) -> Result<Self> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
        let log = NamedTempFile::new()?;
        let mut command = Command::new(path);
        command.args(arguments(&address)).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(OpenOptions::new().append(true).open(log.path())?);
        let process = command.spawn().map_err(|error| format!("{}: {error}", path.display()))?;
        let mut program = Self {
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            process,
            base_url: format!("http://{address}/api/v1"),
            log,
            client: Client::builder().no_proxy().build()?,
        };
        let deadline = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect(&address).is_err() {
            if let Some(status) = program.process.try_wait()? {
                return Err(program.problem(&format!("it ended at its start with {status}")));
            }
            if Instant::now() > deadline {
                return Err(program.problem("it does not listen after 60 s"));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(program)
    }

    /// An error that names the program, with the end of its log.
    pub(crate) fn problem(&self, what: &str) -> Failure {
        let log = std::fs::read(self.log.path()).unwrap_or_default();
        let log = String::from_utf8_lossy(&log[log.len().saturating_sub(1_000)..]);
        let name = &self.name;
        match log.trim() {
            "" => format!("{name}: {what}").into(),
            log => format!("{name}: {what}; the end of its log:\n{log}").into(),
        }
    }

    /// The server logs every request; only the end of that is of use.
    pub(crate) fn empty_log(&self) -> Result {
        Ok(File::options().write(true).open(self.log.path())?.set_len(0)?)
    }

    async fn call(
        &self,
        method: Method,
        path: &str,
        account: usize,
        body: Option<Value>,
        expected: StatusCode,
    ) -> Result<Value> {
        let url = format!("{}{path}", self.base_url);
        let mut request = self.client.request(method.clone(), url).bearer_auth(key_of(account));
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await?;
        let (status, text) = (response.status(), response.text().await?);
        if status != expected {
            return Err(self.problem(&format!(
                "{method} {path} has the status {status} in place of {expected}: {text}"
            )));
        }
        serde_json::from_str(&text)
            .map_err(|error| self.problem(&format!("{method} {path}: {error}: {text}")))
    }

    /// Creates a prompt, which gets the first id in a new store. The response.
    pub(crate) async fn create(&self) -> Result<Value> {
        let body = json!({ "title": "Harbour at dusk", "prompt": TEXT });
        self.call(Method::POST, "/prompts", 0, Some(body), StatusCode::CREATED).await
    }

    pub(crate) async fn get(&self, account: usize, index: usize) -> Result<Value> {
        let path = format!("/prompts/{}", prompt_of(account, index));
        self.call(Method::GET, &path, account, None, StatusCode::OK).await
    }

    pub(crate) async fn page(&self, account: usize, cursor: Option<&str>) -> Result<Value> {
        let cursor = cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        let path = format!("/prompts?limit=20{cursor}");
        self.call(Method::GET, &path, account, None, StatusCode::OK).await
    }

    /// The cursors of all pages of each account with 20 prompts after them.
    pub(crate) async fn cursors(&self) -> Result<Vec<Vec<String>>> {
        let mut all = Vec::new();
        for account in 0..KEYS {
            let mut cursors: Vec<String> = Vec::new();
            while cursors.len() + 1 < PROMPTS / 20 {
                let page = self.page(account, cursors.last().map(String::as_str)).await?;
                let next = page.pointer("/pagination/nextCursor").and_then(Value::as_str);
                let next = next.ok_or_else(|| self.problem("a page has no next cursor"))?;
                cursors.push(next.to_owned());
            }
            all.push(cursors);
        }
        Ok(all)
    }

    /// The names in its responses to each request, in order, which are those of every program.
    pub(crate) async fn shape(&self) -> Result<[Vec<String>; 3]> {
        let names = |value: Option<&Value>| {
            let object = value.and_then(Value::as_object);
            let mut names: Vec<_> =
                object.into_iter().flatten().map(|(name, _)| name.clone()).collect();
            names.sort();
            names
        };
        let (got, page, created) = (
            self.get(KEYS - 1, PROMPTS - 1).await?,
            self.page(0, None).await?,
            self.create().await?,
        );
        if page["data"].as_array().map(Vec::len) != Some(20) {
            return Err(self.problem(&format!("a page has not 20 prompts: {page}")));
        }
        Ok([names(got.get("data")), names(page.pointer("/data/0")), names(created.get("data"))])
    }
}
