//! The one `chromedriver` of this process.

use std::io::{BufRead, BufReader, ErrorKind};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::LazyLock;

use crate::SKIP;

/// The pipe to the shell closes when this process ends, in whatever way. Then the shell kills its
/// group: itself, the driver and the browsers.
const UNTIL_THE_PIPE_CLOSES: &str = "chromedriver --port=0 & read -r _; kill -9 0";

struct Driver {
    url: String,
    /// Both are kept open: one ends the driver, the other is where it writes to.
    _shell: Child,
    _stdout: BufReader<ChildStdout>,
}

static DRIVER: LazyLock<Driver> = LazyLock::new(Driver::start);

/// Where the driver takes commands.
pub(crate) fn url() -> &'static str {
    &DRIVER.url
}

impl Driver {
    fn start() -> Self {
        for program in ["chromedriver", "chromium"] {
            let found = Command::new(program).arg("--version").stdout(Stdio::null()).status();
            assert!(
                !found.is_err_and(|error| error.kind() == ErrorKind::NotFound),
                "there is no `{program}`; install the packages chromium and chromium-driver, or \
                 set {SKIP}=1 to run no tests in a browser"
            );
        }
        let mut shell = Command::new("sh");
        shell.args(["-c", UNTIL_THE_PIPE_CLOSES]).process_group(0);
        shell.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = shell.spawn().unwrap();
        let mut stdout = BufReader::new(shell.stdout.take().unwrap());
        let mut line = String::new();
        let port = loop {
            line.clear();
            assert_ne!(stdout.read_line(&mut line).unwrap(), 0, "chromedriver ended");
            if let Some((_, port)) = line.trim_end().split_once("successfully on port ") {
                break port.trim_end_matches('.').to_owned();
            }
        };
        Self { url: format!("http://127.0.0.1:{port}"), _shell: shell, _stdout: stdout }
    }
}
