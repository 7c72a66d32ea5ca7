//! Models, and the fields of a response that they do not know.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The fields of a response that this version of the crate does not know, by name.
///
/// They are kept when a model is decoded and serialized again, and count in comparisons. `Debug`
/// shows names only, since values may be secret.
#[derive(Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExtraFields(BTreeMap<String, Value>);

impl ExtraFields {
    /// No fields.
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }
}

impl From<Map<String, Value>> for ExtraFields {
    /// The names are those of no field of the model.
    fn from(fields: Map<String, Value>) -> Self {
        Self(fields.into_iter().collect())
    }
}

impl Deref for ExtraFields {
    type Target = BTreeMap<String, Value>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl fmt::Debug for ExtraFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Declares a model: a struct that is a JSON object on the wire, and keeps the members that it does
/// not know in `extra`.
macro_rules! model {
    ($(#[$meta:meta])* pub struct $name:ident $(<$generic:ident>)? { $($fields:tt)+ }) => {
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        #[non_exhaustive]
        $(#[$meta])*
        pub struct $name $(<$generic>)? {
            $($fields)+
            /// Fields that this version of the crate does not know.
            #[serde(flatten)]
            pub extra: $crate::model::ExtraFields,
        }
    };
}

pub(crate) use model;
