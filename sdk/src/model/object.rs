//! How models are read from and written to JSON objects.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, Error, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer};

/// Text that is borrowed from the JSON if that has no escapes in it.
#[derive(Deserialize)]
#[serde(transparent)]
pub(crate) struct Text<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

/// The type of a field: how it is decoded, and what it is if the object does not have it.
pub(crate) trait Field: DeserializeOwned {
    /// Whether an absent value is left out of the JSON.
    const OMITTED: bool = false;

    fn decode<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)
    }

    /// Decodes the value of a field that may be `null`.
    fn decode_optional<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Self>, D::Error> {
        let value = Option::<Decoded<Self>>::deserialize(deserializer)?;
        Ok(value.map(|Decoded(value)| value))
    }

    /// The value of a missing field; `None` if it is required.
    fn missing() -> Option<Self> {
        None
    }

    fn is_absent(&self) -> bool {
        false
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
        T::decode_optional(deserializer)
    }

    fn missing() -> Option<Self> {
        Some(None)
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

/// A list that is missing or `null` is empty.
impl<T: DeserializeOwned> Field for Vec<T> {
    fn decode<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(Option::unwrap_or_default)
    }

    fn missing() -> Option<Self> {
        Some(Self::new())
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

/// The members of a JSON object: a model, or the [`ExtraFields`](super::ExtraFields) of one.
pub(crate) trait Members: Sized {
    const NAME: &'static str;

    /// The members that have been read.
    type Partial;

    fn decode<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Object(PhantomData))
    }

    fn start() -> Self::Partial;

    /// Reads the value of the member with this name.
    fn read<'de, A: MapAccess<'de>>(
        partial: &mut Self::Partial,
        name: Cow<'de, str>,
        map: &mut A,
    ) -> Result<(), A::Error>;

    fn finish<E: Error>(partial: Self::Partial) -> Result<Self, E>;

    /// Writes all members but those that have been written.
    fn write<M: SerializeMap>(
        &self,
        map: &mut M,
        is_written: &dyn Fn(&str) -> bool,
    ) -> Result<(), M::Error>;

    /// Whether one of the extra fields has this name.
    fn has_extra(&self, name: &str) -> bool;
}

/// Decodes a JSON object in one pass.
struct Object<T>(PhantomData<T>);

impl<'de, T: Members> Visitor<'de> for Object<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "struct {}", T::NAME)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut partial = T::start();
        while let Some(Text(name)) = map.next_key()? {
            T::read(&mut partial, name, &mut map)?;
        }
        T::finish(partial)
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
            use std::borrow::Cow;

            use serde::de::{Error, MapAccess};
            use serde::ser::SerializeMap;
            use serde::{Deserialize, Deserializer, Serialize, Serializer};
            use $crate::model::object::{Decoded, Field, Members, wire};

            pub(crate) struct Partial $(<$generic>)? {
                $( $field: Option<$type>, )+
                $rest: <$rest_type as Members>::Partial,
            }

            impl $(<$generic: Field + Serialize>)? Members for $name $(<$generic>)? {
                const NAME: &'static str = stringify!($name);

                type Partial = Partial $(<$generic>)?;

                $( fn decode<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    $decode(deserializer)
                } )?

                fn start() -> Self::Partial {
                    Partial { $( $field: None, )+ $rest: <$rest_type>::start() }
                }

                fn read<'de, A: MapAccess<'de>>(
                    partial: &mut Self::Partial,
                    name: Cow<'de, str>,
                    map: &mut A,
                ) -> Result<(), A::Error> {
                    match &*name {
                        $( wire!($field $($wire)?) => {
                            let Decoded(value) = map.next_value()?;
                            if partial.$field.replace(value).is_some() {
                                return Err(A::Error::duplicate_field(wire!($field $($wire)?)));
                            }
                        } )+
                        _ => <$rest_type>::read(&mut partial.$rest, name, map)?,
                    }
                    Ok(())
                }

                fn finish<E: Error>(partial: Self::Partial) -> Result<Self, E> {
                    Ok(Self {
                        $( $field: match partial.$field.or_else(<$type as Field>::missing) {
                            Some(value) => value,
                            None => return Err(E::missing_field(wire!($field $($wire)?))),
                        }, )+
                        $rest: <$rest_type>::finish(partial.$rest)?,
                    })
                }

                fn write<M: SerializeMap>(
                    &self,
                    map: &mut M,
                    is_written: &dyn Fn(&str) -> bool,
                ) -> Result<(), M::Error> {
                    let skips = |name, is_absent, omitted| {
                        is_written(name) || is_absent && (omitted || self.has_extra(name))
                    };
                    $( if !skips(
                        wire!($field $($wire)?),
                        self.$field.is_absent(),
                        <$type as Field>::OMITTED,
                    ) {
                        map.serialize_entry(wire!($field $($wire)?), &self.$field)?;
                    } )+
                    self.$rest.write(map, &|name| match name {
                        $( wire!($field $($wire)?) => !self.$field.is_absent(), )+
                        _ => is_written(name),
                    })
                }

                fn has_extra(&self, name: &str) -> bool {
                    self.$rest.has_extra(name)
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
