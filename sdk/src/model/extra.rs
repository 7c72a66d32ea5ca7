//! Fields that a model does not know.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;

use serde::de::MapAccess;
use serde::ser::SerializeMap;
use serde_json::{Map, Value};

use crate::model::object::{Members, Text};

/// The fields of a response that this version of the crate does not know, by name.
///
/// They are kept when a model is decoded and serialized again, and count in comparisons. One with
/// the name of a known field is serialized only if that is absent. `Debug` shows names only, since
/// values may be secret.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct ExtraFields(BTreeMap<String, Value>);

impl ExtraFields {
    /// No fields.
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }
}

impl From<Map<String, Value>> for ExtraFields {
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

impl Members for ExtraFields {
    const NAME: &'static str = "ExtraFields";

    fn read<'de, A: MapAccess<'de>>(
        map: &mut A,
        mut outer: impl FnMut(&str, &mut A) -> Result<bool, A::Error>,
    ) -> Result<Self, A::Error> {
        let mut fields = BTreeMap::new();
        while let Some(Text(name)) = map.next_key()? {
            if !outer(&name, map)? {
                fields.insert(name.into_owned(), map.next_value()?);
            }
        }
        Ok(Self(fields))
    }

    fn write<M: SerializeMap>(
        &self,
        map: &mut M,
        is_written: &dyn Fn(&str) -> bool,
    ) -> Result<(), M::Error> {
        let mut fields = self.iter().filter(|(name, _)| !is_written(name));
        fields.try_for_each(|(name, value)| map.serialize_entry(name, value))
    }
}
