//! The server under attack.

use tokio::sync::{Mutex, MutexGuard};

use crate::MEMORY_MAX_MIB;
use crate::good::GoodClient;
use crate::program::Running;

/// The key of whoever attacks, and a key of another account.
pub(crate) const ATTACKER: &str = "promptarium_live_m1_s3cret";
pub(crate) const GOOD: &str = "promptarium_live_g1_s3cret";

static ONE_AT_A_TIME: Mutex<()> = Mutex::const_new(());

/// A server process with both accounts, and a good client that uses it until [`Target::end`].
pub(crate) struct Target {
    pub(crate) server: Running,
    good: GoodClient,
    _turn: MutexGuard<'static, ()>,
}

impl Target {
    pub(crate) async fn start(arguments: &[&str]) -> Self {
        let turn = ONE_AT_A_TIME.lock().await;
        let seeds = [format!("{ATTACKER}=mallory"), format!("{GOOD}=alice")];
        // Nobody reads the log, which would block the server once the pipe is full.
        let always = ["--log", "off", "--seed-key", &seeds[0], "--seed-key", &seeds[1]];
        let server = Running::start(&[&always, arguments].concat(), &[]).await;
        let good = GoodClient::start(server.base_url());
        Self { server, good, _turn: turn }
    }

    /// Host and port.
    pub(crate) fn address(&self) -> &str {
        let address = self.server.base_url().strip_prefix("http://").unwrap();
        address.split('/').next().unwrap()
    }

    /// The peak memory so far, in MiB.
    pub(crate) fn peak_memory(&self) -> u64 {
        let id = self.server.process_id();
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() / 1024
    }

    /// Checks what the good client saw and what the server took, and prints both.
    pub(crate) async fn end(self, attack: &str) {
        let peak = self.peak_memory();
        let report = self.good.stop().await;
        println!("{attack}: at most {peak} MiB; good client: {report:?}");
        report.check();
        assert!(peak <= MEMORY_MAX_MIB, "{attack}: {peak} MiB");
    }
}
