//! The program as a child process, with nothing in its environment but what a test puts there.
//! Arguments are separated by spaces.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::time::timeout;

use super::TIMEOUT;
use super::client::{Connection, Response, get_request};
use super::http::{Http, json_request};

const PROGRAM: &str = env!("CARGO_BIN_EXE_promptarium-server");
const ANYWHERE: &str = "--listen=127.0.0.1:0 --json";
/// A variable: no balancer in front must notice the end.
const NO_DELAY: (&str, &str) = ("PROMPTARIUM_DRAIN_DELAY", "0");

/// The common public address of all replicas, as behind a load balancer. Clients of
/// these tests replace it by the address of one replica.
pub(crate) const PUBLIC_URL: &str = "http://promptarium.test";

/// The data are in memory unless the arguments say where they are.
fn place(arguments: &str) -> &'static str {
    if arguments.contains("--da") { "" } else { "--data=memory:" }
}

/// The program with these arguments, not yet started.
pub(crate) fn program(arguments: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.env_clear().args(arguments.split_whitespace());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

/// How a program ended, and what it wrote, after its ready line if it had one.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    pub(crate) fn json(&self) -> Value {
        assert_eq!((self.code, self.stdout.matches('\n').count()), (Some(0), 1), "{self:?}");
        serde_json::from_str(&self.stdout).unwrap()
    }
}

/// Runs the program to its end.
pub(crate) async fn output(mut command: Command) -> Ended {
    let output = timeout(TIMEOUT, command.output()).await.expect("an end in time").unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// The only line of a program that fails with this code.
pub(crate) async fn refusal(command: Command, code: i32) -> String {
    let output = output(command).await;
    assert_eq!((output.code, &*output.stdout), (Some(code), ""), "{output:?}");
    assert_eq!(output.stderr.matches('\n').count(), 1, "{output:?}");
    output.stderr
}

fn on_database(url: &str, arguments: &str) -> Command {
    let mut command = program(arguments);
    command.env("PROMPTARIUM_DATABASE_URL", url);
    command
}

/// Runs a command with the URL of the database in its environment.
pub(crate) async fn run(url: &str, arguments: &str) -> Ended {
    output(on_database(url, arguments)).await
}

/// The only line of such a command that fails.
pub(crate) async fn failure(url: &str, arguments: &str, code: i32) -> String {
    refusal(on_database(url, arguments), code).await
}

/// Sends a signal by its name, such as `STOP`.
pub(crate) async fn signal(name: &str, processes: &[String]) {
    let status = Command::new("kill").args(["-s", name]).args(processes).status().await;
    assert!(status.unwrap().success(), "kill -s {name} {processes:?}");
}

/// The program, ready for requests.
pub(crate) struct Running {
    pub(crate) child: Child,
    pub(crate) ready: Value,
    stdout: Lines<BufReader<ChildStdout>>,
    /// Unless it was sent elsewhere.
    stderr: Option<Lines<BufReader<ChildStderr>>>,
}

impl Running {
    /// Starts it on a free port and waits for its ready line.
    pub(crate) async fn start(arguments: &str) -> Self {
        let mut command = program(&format!("{ANYWHERE} {} {arguments}", place(arguments)));
        command.env(NO_DELAY.0, NO_DELAY.1);
        Self::of(command).await
    }

    /// With this database, and its files in memory.
    pub(crate) async fn on(url: &str, arguments: &str) -> Self {
        Self::start(&format!("--blob-store=memory: --database-url {url} {arguments}")).await
    }

    /// As [`Running::start`], by a shell that says something to the system first.
    pub(crate) async fn start_after(shell: &str, arguments: &str) -> Self {
        let mut command = Command::new("sh");
        let place = place(arguments);
        command.args(["-c", &format!("{shell}; exec {PROGRAM} {ANYWHERE} {place} {arguments}")]);
        command.env_clear().env(NO_DELAY.0, NO_DELAY.1).kill_on_drop(true);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self::of(command).await
    }

    /// Starts a command that prints the ready line as JSON.
    pub(crate) async fn of(command: Command) -> Self {
        Self::try_of(command).await.expect("a ready line")
    }

    /// `None` if it ends before it is ready.
    async fn try_of(mut command: Command) -> Option<Self> {
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
        let stderr = child.stderr.take().map(|stderr| BufReader::new(stderr).lines());
        let line = timeout(TIMEOUT, stdout.next_line()).await.expect("a line in time").unwrap()?;
        Some(Self { child, ready: serde_json::from_str(&line).unwrap(), stdout, stderr })
    }

    pub(crate) fn base_url(&self) -> &str {
        self.ready["base_url"].as_str().unwrap()
    }

    /// The address of its pages, without a slash at the end.
    pub(crate) fn root(&self) -> &str {
        self.base_url().strip_suffix("/api/v1").unwrap()
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// The key that it has made, or the empty text.
    pub(crate) fn api_key(&self) -> &str {
        self.ready["api_key"].as_str().unwrap_or_default()
    }

    /// The code in its sign-in link.
    pub(crate) fn code(&self) -> &str {
        self.ready["sign_in_url"].as_str().unwrap().split_once('#').unwrap().1
    }

    /// The value of this line in what the system says of the process.
    pub(crate) fn status(&self, name: &str) -> String {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process_id()));
        let status = status.unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(":"));
        line.unwrap().trim().to_owned()
    }

    /// The listener of metrics, of a server with a free port for it.
    pub(crate) async fn admin(&mut self) -> Connection {
        let event = self.event("serving metrics").await;
        Connection::open(event["address"].as_str().unwrap()).await
    }

    /// The next line of stdout, which is JSON.
    pub(crate) async fn line(&mut self) -> Value {
        let line = timeout(TIMEOUT, self.stdout.next_line()).await.expect("a line in time");
        serde_json::from_str(&line.unwrap().expect("a line")).unwrap()
    }

    /// The next event in the log with this message.
    pub(crate) async fn event(&mut self, message: &str) -> Value {
        let stderr = self.stderr.as_mut().unwrap();
        loop {
            let line = timeout(TIMEOUT, stderr.next_line()).await.expect("a line in time");
            let event: Value = serde_json::from_str(&line.unwrap().expect("a line")).unwrap();
            if event["message"] == message {
                return event;
            }
        }
    }

    /// Sends a signal by its name.
    pub(crate) async fn signal(&self, name: &str) {
        signal(name, &[self.process_id().to_string()]).await;
    }

    /// Asks it to stop, and waits for its end.
    pub(crate) async fn stop(self) -> Ended {
        self.signal("TERM").await;
        self.end().await
    }

    /// Waits for its end.
    pub(crate) async fn end(mut self) -> Ended {
        let status = timeout(TIMEOUT, self.child.wait()).await.expect("an end in time").unwrap();
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.stdout.get_mut().read_to_string(&mut stdout).await.unwrap();
        if let Some(lines) = &mut self.stderr {
            lines.get_mut().read_to_string(&mut stderr).await.unwrap();
        }
        Ended { code: status.code(), stdout, stderr }
    }
}

/// A server process that can be killed and started again at the same address.
pub(crate) struct Server {
    /// Host and port.
    pub(crate) address: String,
    arguments: String,
    log: PathBuf,
    pub(crate) process: Option<Running>,
    http: Http,
}

impl Server {
    /// Starts a server on a free port and waits until it is ready.
    pub(crate) async fn start(log: PathBuf, arguments: &str) -> Self {
        let address = super::free_address();
        let arguments = format!(
            "--listen {address} --public-url {PUBLIC_URL} --json --log-format json {arguments}"
        );
        let http = Http::default();
        let mut server = Self { address, arguments, log, process: None, http };
        server.start_again().await;
        server
    }

    pub(crate) async fn start_again(&mut self) {
        let log = OpenOptions::new().create(true).append(true).open(&self.log).unwrap();
        let mut command = program(&self.arguments);
        command.stderr(log);
        self.process = Running::try_of(command).await;
        assert!(self.process.is_some(), "it did not start: {}", self.log());
    }

    /// Kills it with SIGKILL.
    pub(crate) async fn kill(&mut self) {
        self.process.take().unwrap().child.kill().await.unwrap();
    }

    pub(crate) fn running(&self) -> &Running {
        self.process.as_ref().unwrap()
    }

    /// Its response, which must come, to a request of the API; a body of `Null` is none.
    pub(crate) async fn call(&self, key: &str, method: &str, path: &str, body: Value) -> Response {
        self.http.ask(&self.address, json_request(key, method, path, body)).await
    }

    /// The same to a GET request without a key.
    pub(crate) async fn get(&self, path: &str) -> Response {
        self.http.ask(&self.address, get_request(path)).await
    }

    /// Everything it has logged.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}
