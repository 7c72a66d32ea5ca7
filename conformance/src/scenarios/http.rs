//! What RFC 9110 and RFC 9112 require of any HTTP server.

pub(super) mod raw;

use self::raw::{framing, head, json, pace, paths};
use crate::Scenario;

pub(super) const ALL: &[&[Scenario]] = &[framing::ALL, head::ALL, paths::ALL, pace::ALL, json::ALL];
