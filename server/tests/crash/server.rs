//! The program as a process that is killed and started again at the same address.

use std::fs::{File, OpenOptions};
use std::path::PathBuf;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::PATIENCE;

/// What every address that the servers hand out begins with: that of a balancer,
/// of which the clients here know that it stands for any of the servers.
pub(crate) const PUBLIC_URL: &str = "http://promptarium.test";

/// One replica.
pub(crate) struct Server {
    /// A host and a port.
    pub(crate) address: String,
    arguments: Vec<String>,
    log: PathBuf,
    process: Option<Child>,
}

impl Server {
    /// Starts one that listens wherever there is room, and waits until it is ready.
    pub(crate) async fn start(log: PathBuf, arguments: Vec<String>) -> Self {
        // The port is free again at once; nobody else is given it so soon.
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        drop(listener);
        let mut server = Self { address, arguments, log, process: None };
        server.start_again().await;
        server
    }

    pub(crate) async fn start_again(&mut self) {
        assert!(self.process.is_none(), "it runs");
        let mut process = self.command().spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let line = timeout(PATIENCE, lines.next_line()).await.expect("a ready line in time");
        assert!(line.unwrap().is_some(), "it did not start: {}", self.log());
        self.process = Some(process);
    }

    fn command(&self) -> Command {
        let log = OpenOptions::new().create(true).append(true).open(&self.log);
        let log: File = log.unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_promptarium-server"));
        command
            .env_clear()
            .args(["--listen", &self.address, "--public-url", PUBLIC_URL, "--json"])
            .args(["--log-format", "json"])
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true);
        command
    }

    /// Kills it; it gets no chance to tidy up.
    pub(crate) async fn kill(&mut self) {
        let mut process = self.process.take().expect("it runs");
        process.kill().await.unwrap();
    }

    /// Sends a signal by its name.
    pub(crate) async fn signal(&self, name: &str) {
        let id = self.process.as_ref().and_then(Child::id).expect("it runs").to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status().await.unwrap();
        assert!(sent.success());
    }

    /// Whether it stands still since it had the signal `STOP`.
    pub(crate) fn is_stopped(&self) -> bool {
        let id = self.process.as_ref().and_then(Child::id).expect("it runs");
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        status.lines().any(|line| line.starts_with("State:\tT"))
    }

    /// What it has logged since the test began.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}
