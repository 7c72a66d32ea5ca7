//! Every scenario over the ways a target can be reached: TLS with an authority of
//! its own, HTTP/2 by agreement in the handshake, HTTP/2 by prior knowledge, and
//! HTTP/1.1 over TLS. What a scenario finds must not hang on that.
//!
//! Each is a test named `way::id`. HTTP/1.1 without TLS is what `backends` runs.

#[path = "../shared/embedded.rs"]
mod embedded;
#[path = "../shared/keys.rs"]
mod keys;
mod tls;

use std::error::Error;
use std::future::pending;
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use promptarium_conformance::report::{Outcome, text};
use promptarium_conformance::{
    Authorities, Case, Http, Need, Run, Scenario, Target, run, scenarios,
};
use promptarium_server::EmbeddedServer;
use tokio::runtime::{Handle, Runtime};
use tokio::sync::OnceCell;

use self::tls::{NotStarted, Proxy, Socket};

/// Scenarios mostly wait.
const AT_ONCE: usize = 8;

/// How a target is reached.
struct Way {
    name: &'static str,
    /// The protocols a proxy with TLS offers; without any there is no proxy.
    tls: &'static [&'static str],
    http: Http,
    /// Of so many scenarios one is run.
    one_in: usize,
}

const WAYS: [Way; 3] = [
    Way { name: "tls", tls: &["h2", "http/1.1"], http: Http::Auto, one_in: 1 },
    Way { name: "http2", tls: &[], http: Http::Two, one_in: 1 },
    Way { name: "tls-http1", tls: &["http/1.1"], http: Http::Auto, one_in: 6 },
];

/// A server reached in one of the ways, started when the first scenario asks.
struct Reached {
    target: Arc<Target>,
    server: EmbeddedServer,
    _proxy: Option<Proxy>,
}

type Cell = OnceCell<Result<Reached, String>>;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(AT_ONCE);
    let runtime = Runtime::new()?;
    let cells: Arc<[Cell; WAYS.len()]> = Arc::default();
    let mut trials = Vec::new();
    for (at, way) in WAYS.iter().enumerate() {
        for (number, scenario) in scenarios::all().enumerate() {
            if number % way.one_in != 0 {
                continue;
            }
            let (cells, handle) = (Arc::clone(&cells), runtime.handle().clone());
            let trial = move || test(&handle, &cells[at], way, scenario, number);
            trials.push(Trial::test(format!("{}::{}", way.name, scenario.id), trial));
        }
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    runtime.block_on(async {
        for cell in Arc::into_inner(cells).into_iter().flatten() {
            if let Some(Ok(reached)) = cell.into_inner() {
                reached.server.shutdown().await;
            }
        }
    });
    Ok(conclusion.exit_code())
}

fn test(
    handle: &Handle,
    cell: &Cell,
    way: &'static Way,
    scenario: &'static Scenario,
    number: usize,
) -> Result<(), Failed> {
    handle.block_on(async {
        let reached = cell
            .get_or_init(|| async { start(way).await.map_err(|reason| reason.to_string()) })
            .await;
        let target = &reached.as_ref().map_err(Failed::from)?.target;
        let tag = format!("{}-{number}", &way.name[..3]);
        let record = run::one(target, scenario, &tag, 5 * Run::DEADLINE, pending()).await;
        let cannot = way.http == Http::Two && scenario.needs.contains(&Need::HttpOne);
        match record.outcome {
            Outcome::Passed if record.left_behind.is_none() && !cannot => Ok(()),
            Outcome::Skipped if cannot => Ok(()),
            _ => Err(text::record(&record).into()),
        }
    })
}

async fn start(way: &Way) -> Result<Reached, NotStarted> {
    let mut builder = embedded::builder();
    let socket = match way.tls {
        [] => None,
        offered => Some(Socket::bind(offered).await?),
    };
    let mut authorities = Authorities::default();
    if let Some(socket) = &socket {
        builder = builder.public_url(socket.url()?);
        authorities = Authorities::from_pem(socket.authority.as_bytes())?;
    }
    let server = builder.start().await?;
    let proxy = socket.map(|socket| socket.forward_to(server.local_addr()));
    let mut config = keys::target(server.base_url(), Some(&server.sign_in_url().await?))?;
    (config.http, config.authorities) = (way.http, authorities);
    let target = Arc::new(Target::new(config)?);
    // Before the code expires.
    Case::new(Arc::clone(&target), "sign-in").session().await?;
    Ok(Reached { target, server, _proxy: proxy })
}
