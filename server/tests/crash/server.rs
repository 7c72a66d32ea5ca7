//! One server process that can be killed and started again at the same address.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::TIMEOUT;

/// The common public address of all replicas, as behind a load balancer. Clients of
/// these tests replace it by the address of one replica.
pub(crate) const PUBLIC_URL: &str = "http://promptarium.test";

pub(crate) struct Server {
    /// Host and port.
    pub(crate) address: String,
    /// Separated by spaces.
    arguments: String,
    log: PathBuf,
    pub(crate) process: Option<Child>,
}

impl Server {
    /// Starts a server on a free port and waits until it is ready.
    pub(crate) async fn start(log: PathBuf, arguments: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        drop(listener);
        let arguments = arguments.to_owned();
        let mut server = Self { address, arguments, log, process: None };
        server.start_again().await;
        server
    }

    pub(crate) async fn start_again(&mut self) {
        let log = OpenOptions::new().create(true).append(true).open(&self.log).unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_promptarium-server"))
            .env_clear()
            .args(["--listen", &self.address, "--public-url", PUBLIC_URL, "--json"])
            .args(["--log-format", "json"])
            .args(self.arguments.split(' '))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let line = timeout(TIMEOUT, lines.next_line()).await.expect("a ready line in time");
        assert!(line.unwrap().is_some(), "it did not start: {}", self.log());
        self.process = Some(process);
    }

    /// Kills it with SIGKILL.
    pub(crate) async fn kill(&mut self) {
        self.process.take().unwrap().kill().await.unwrap();
    }

    /// Whether SIGSTOP still holds it.
    pub(crate) fn is_stopped(&self) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        status.lines().any(|line| line.starts_with("State:\tT"))
    }

    /// Everything it has logged.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    pub(crate) fn id(&self) -> String {
        self.process.as_ref().and_then(Child::id).unwrap().to_string()
    }
}
