//! What most lists of faults need.

pub(crate) use std::cmp::Reverse;
pub(crate) use std::collections::{BTreeSet, HashMap, HashSet};

pub(crate) use http::Method;
pub(crate) use serde_json::{Value, json};

pub(crate) use crate::bounds::*;
pub(crate) use crate::exchange::*;
pub(crate) use crate::fault::{Fault, Intercept, fault};
pub(crate) use crate::front::*;
pub(crate) use crate::proxy::Upstream;
