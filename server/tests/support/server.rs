//! One server process that can be killed and started again at the same address.

use std::fs::OpenOptions;
use std::path::PathBuf;

use super::program::{Running, program};

/// The common public address of all replicas, as behind a load balancer. Clients of
/// these tests replace it by the address of one replica.
pub(crate) const PUBLIC_URL: &str = "http://promptarium.test";

pub(crate) struct Server {
    /// Host and port.
    pub(crate) address: String,
    /// Separated by spaces.
    arguments: String,
    log: PathBuf,
    pub(crate) process: Option<Running>,
}

impl Server {
    /// Starts a server on a free port and waits until it is ready.
    pub(crate) async fn start(log: PathBuf, arguments: &str) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        drop(listener);
        let arguments = format!(
            "--listen {address} --public-url {PUBLIC_URL} --json --log-format json {arguments}"
        );
        let mut server = Self { address, arguments, log, process: None };
        server.start_again().await;
        server
    }

    pub(crate) async fn start_again(&mut self) {
        let log = OpenOptions::new().create(true).append(true).open(&self.log).unwrap();
        let mut command = program(&self.arguments.split(' ').collect::<Vec<_>>(), &[]);
        command.stderr(log);
        self.process = Running::try_of(command).await;
        assert!(self.process.is_some(), "it did not start: {}", self.log());
    }

    /// Kills it with SIGKILL.
    pub(crate) async fn kill(&mut self) {
        self.process.take().unwrap().child.kill().await.unwrap();
    }

    /// Whether SIGSTOP still holds it.
    pub(crate) fn is_stopped(&self) -> bool {
        let id = self.process.as_ref().unwrap().process_id();
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        status.lines().any(|line| line.starts_with("State:\tT"))
    }

    pub(crate) async fn signal(&self, name: &str) {
        self.process.as_ref().unwrap().signal(name).await;
    }

    /// Everything it has logged.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}
