//! What nearly every test here uses.

pub(crate) use std::future::pending;
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::sync::Arc;
pub(crate) use std::time::{Duration, Instant};

pub(crate) use promptarium_conformance::report::{Format, Outcome, Record, Report, Verdict, text};
pub(crate) use promptarium_conformance::scenarios::prelude::{Case, Failure, Scenario};
pub(crate) use promptarium_conformance::selection::{Filters, Selection};
pub(crate) use promptarium_conformance::{KnownFailures, Run, RunId, RunOptions, Suite};
pub(crate) use promptarium_conformance::{Target, TargetConfig, Untestable};
pub(crate) use promptarium_server::EmbeddedServer;
pub(crate) use serde_json::{Value, json};

pub(crate) use crate::balancer::{Balancer, Changes, Socket};
pub(crate) use crate::deployed::{Account, chosen, patient, server, server_behind, target};
pub(crate) use crate::keys::{self, MAIN, OTHER, READ_ONLY, REVOKED, builder};
pub(crate) use crate::program::{self, JsonReport, Ran, blocks, command, file, folder, program};
pub(crate) use crate::program::{root, text};
pub(crate) use crate::stub::{Answer, KEY, Stub, finish, scenario, selection};
