//! How models are read from and written to JSON objects.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer};

/// Text that is borrowed from the JSON if that has no escapes in it.
#[derive(Deserialize)]
#[serde(transparent)]
pub(crate) struct Text<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

/// The type of a field: how it is decoded, and what it is if the object does not have it.
pub(crate) trait Field: DeserializeOwned + PartialEq {
    /// Whether an absent value is left out of the JSON.
    const OMITTED: bool = false;

    fn decode<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)
    }

    /// The value of a missing field; `None` if it is required.
    fn missing() -> Option<Self> {
        None
    }

    fn is_absent(&self) -> bool {
        Self::missing().is_some_and(|missing| *self == missing)
    }
}

/// A field, decoded as its type demands.
pub(crate) struct Decoded<T>(pub(crate) T);

impl<'de, T: Field> Deserialize<'de> for Decoded<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::decode(deserializer).map(Self)
    }
}

impl Field for String {}
impl Field for bool {}

impl<T: Field> Field for Option<T> {
    fn decode<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Option::<Decoded<T>>::deserialize(deserializer)?;
        Ok(value.map(|Decoded(value)| value))
    }

    fn missing() -> Option<Self> {
        Some(None)
    }
}

/// A list that is missing or `null` is empty.
impl<T: DeserializeOwned + PartialEq> Field for Vec<T> {
    fn decode<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(Option::unwrap_or_default)
    }

    fn missing() -> Option<Self> {
        Some(Self::new())
    }
}

/// The members of a JSON object: a model, or the [`ExtraFields`](super::ExtraFields) of one.
pub(crate) trait Members: Sized {
    const NAME: &'static str;

    fn decode<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Object(PhantomData))
    }

    /// Reads the members in one pass. `outer` reads the value of the member with this name, if the
    /// object around this one has such a field.
    fn read<'de, A: MapAccess<'de>>(
        map: &mut A,
        outer: impl FnMut(&str, &mut A) -> Result<bool, A::Error>,
    ) -> Result<Self, A::Error>;

    /// Whether the field of this name is present; `None` if there is no such field.
    fn is_present(&self, _name: &str) -> Option<bool> {
        None
    }

    /// Writes all members but those that have been written.
    fn write<M: SerializeMap>(
        &self,
        map: &mut M,
        is_written: &dyn Fn(&str) -> bool,
    ) -> Result<(), M::Error>;
}

struct Object<T>(PhantomData<T>);

impl<'de, T: Members> Visitor<'de> for Object<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "struct {}", T::NAME)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        T::read(&mut map, |_, _| Ok(false))
    }
}

/// Declares a model: a struct that is a JSON object on the wire and keeps the members that it does
/// not know.
///
/// A field has the name of its member, or the one after `as`; its type says how it is decoded
/// ([`Field`]). The last field, after `;`, takes the members that are not fields: by default it is
/// `extra`. `by` names a function that decodes the model in another way.
macro_rules! model {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident $(<$generic:ident>)? $(by $decode:ident)? {
            $( $(#[$doc:meta])* $field_vis:vis $field:ident $(as $wire:literal)?: $type:ty, )+
            ;
            $(#[$rest_doc:meta])* $rest_vis:vis $rest:ident: $rest_type:ty,
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        $vis struct $name $(<$generic>)? {
            $( $(#[$doc])* $field_vis $field: $type, )+
            $(#[$rest_doc])* $rest_vis $rest: $rest_type,
        }

        const _: () = {
            use serde::de::{Error, MapAccess};
            use serde::ser::SerializeMap;
            use serde::{Deserialize, Deserializer, Serialize, Serializer};
            use $crate::model::object::{Decoded, Field, Members, wire};

            impl $(<$generic: Field + Serialize>)? Members for $name $(<$generic>)? {
                const NAME: &'static str = stringify!($name);

                $( fn decode<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    $decode(deserializer)
                } )?

                fn read<'de, A: MapAccess<'de>>(
                    map: &mut A,
                    mut outer: impl FnMut(&str, &mut A) -> Result<bool, A::Error>,
                ) -> Result<Self, A::Error> {
                    $( let mut $field: Option<$type> = None; )+
                    let $rest = <$rest_type>::read(map, |name, map| {
                        match name {
                            $( wire!($field $($wire)?) => {
                                let Decoded(value) = map.next_value()?;
                                if $field.replace(value).is_some() {
                                    return Err(Error::duplicate_field(wire!($field $($wire)?)));
                                }
                            } )+
                            _ => return outer(name, map),
                        }
                        Ok(true)
                    })?;
                    Ok(Self {
                        $( $field: $field
                            .or_else(Field::missing)
                            .ok_or_else(|| Error::missing_field(wire!($field $($wire)?)))?, )+
                        $rest,
                    })
                }

                fn is_present(&self, name: &str) -> Option<bool> {
                    match name {
                        $( wire!($field $($wire)?) => Some(!self.$field.is_absent()), )+
                        _ => None,
                    }
                }

                fn write<M: SerializeMap>(
                    &self,
                    map: &mut M,
                    is_written: &dyn Fn(&str) -> bool,
                ) -> Result<(), M::Error> {
                    $( let name = wire!($field $($wire)?);
                    let is_left_out = self.$field.is_absent()
                        && (<$type as Field>::OMITTED || self.extra.contains_key(name));
                    if !is_written(name) && !is_left_out {
                        map.serialize_entry(name, &self.$field)?;
                    } )+
                    let is_written =
                        |name: &str| self.is_present(name).unwrap_or_else(|| is_written(name));
                    self.$rest.write(map, &is_written)
                }
            }

            impl $(<$generic: Field + Serialize>)? Serialize for $name $(<$generic>)? {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    let mut map = serializer.serialize_map(None)?;
                    self.write(&mut map, &|_| false)?;
                    map.end()
                }
            }

            impl<'de $(, $generic: Field + Serialize)?> Deserialize<'de> for $name $(<$generic>)? {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    <Self as Members>::decode(deserializer)
                }
            }
        };
    };
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident $(<$generic:ident>)? $(by $decode:ident)? { $($fields:tt)+ }
    ) => {
        $crate::model::object::model! {
            $(#[$meta])*
            $vis struct $name $(<$generic>)? $(by $decode)? {
                $($fields)+
                ;
                /// Fields that this version of the crate does not know.
                pub extra: $crate::model::ExtraFields,
            }
        }
    };
}

/// The name of a field on the wire.
macro_rules! wire {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $wire:literal) => {
        $wire
    };
}

pub(crate) use {model, wire};
