//! The body fields of the specification and the query of `GET /prompts`, one row a field.

use super::request::Request::{self, *};

pub struct Field {
    pub request: Request,
    pub name: &'static str,
    pub kind: Kind,
    pub presence: Presence,
    pub rule: &'static str,
    pub range: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Text(usize, usize),
    AnyText,
    /// A text up to a number of characters, which a server may restrict to ratios (S-66).
    Ratio(usize),
    /// One of the words of the first list; the second one has words that are near them.
    OneOf(&'static str, &'static str),
    Uri,
    Uris(usize),
    /// The id of something of the caller.
    Id,
    /// The same, and a stated least value of 1.
    PositiveId,
    /// A list of ids, the least and the greatest number of them.
    Ids(usize, usize),
    /// The least and the greatest.
    Integer(i64, i64),
    Object,
}

impl Kind {
    /// The least, the most, and of what.
    pub fn range(self) -> (i64, i64, &'static str) {
        let of = |least: usize, most: usize, unit| (least as i64, most as i64, unit);
        match self {
            Self::Text(least, most) => of(least, most, " characters"),
            Self::Ratio(most) => of(0, most, " characters"),
            Self::Uris(most) => of(0, most, " entries"),
            Self::Ids(least, most) => of(least, most, " entries"),
            Self::Integer(least, most) => (least, most, ""),
            Self::PositiveId => (1, i64::MAX, ""),
            Self::Object => (0, i64::MAX, " members"),
            Self::AnyText | Self::OneOf(..) | Self::Uri | Self::Id => (0, i64::MAX, ""),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    Required,
    Optional,
    /// Optional, and `null` is a value.
    Nullable,
    /// Optional, and `null` is a value by our choice (S-09).
    NullableByChoice,
}

impl Presence {
    pub fn takes_null(self) -> bool {
        matches!(self, Self::Nullable | Self::NullableByChoice)
    }
}

const TYPES: Kind = Kind::OneOf("text image video", "audio Image TEXT images text,image");
const MEDIA: Kind = Kind::OneOf("image video", "audio text Image VIDEO images");
const VISIBILITIES: Kind =
    Kind::OneOf("private unlisted public", "secret Public PRIVATE shared publicly");
const PICTURES: Kind = Kind::OneOf(
    "image/png image/jpeg image/webp image/gif",
    "image/svg+xml image/bmp image/tiff image/avif image/heic image/apng image/x-icon image/jpg \
     image/* image/ image png .png video/mp4 text/html application/octet-stream */*",
);

macro_rules! rows {
    ($($request:ident $name:literal $kind:expr, $presence:ident, $rule:literal $($range:literal)?;)+) => {
        &[$(Field {
            request: $request,
            name: $name,
            kind: $kind,
            presence: Presence::$presence,
            rule: $rule,
            range: rows!(@range $rule $($range)?),
        }),+]
    };
    (@range $rule:literal) => { $rule };
    (@range $rule:literal $range:literal) => { $range };
}

/// Request, field, kind, presence, the rule of the field and, if another one, that of its range.
#[rustfmt::skip]
pub const FIELDS: &[Field] = rows! {
    CreatePrompt "title" Kind::Text(1, 120), Required, "PR-20" "LI-02";
    CreatePrompt "prompt" Kind::Text(1, 15_000), Required, "PR-20" "LI-03";
    CreatePrompt "promptType" TYPES, Optional, "PR-22";
    CreatePrompt "platform" Kind::AnyText, NullableByChoice, "PR-23";
    CreatePrompt "modelId" Kind::AnyText, Optional, "PR-25";
    CreatePrompt "aspectRatio" Kind::Ratio(20), Optional, "PR-26" "LI-04";
    CreatePrompt "vaultId" Kind::Id, Optional, "PR-27";
    CreatePrompt "imageUrl" Kind::Uri, Optional, "PR-28";
    CreatePrompt "referenceMediaUrls" Kind::Uris(10), Optional, "PR-29" "LI-05";
    UpdatePrompt "title" Kind::Text(1, 120), Optional, "PR-33" "LI-02";
    UpdatePrompt "prompt" Kind::Text(1, 15_000), Optional, "PR-33" "LI-03";
    UpdatePrompt "promptType" TYPES, Optional, "PR-33" "PR-35";
    UpdatePrompt "platform" Kind::AnyText, NullableByChoice, "PR-33";
    UpdatePrompt "modelId" Kind::AnyText, Optional, "PR-35";
    UpdatePrompt "aspectRatio" Kind::Ratio(20), Optional, "PR-34" "LI-04";
    UpdatePrompt "vaultId" Kind::Id, Optional, "PR-38";
    UpdatePrompt "imageUrl" Kind::Uri, Optional, "PR-35";
    UpdatePrompt "referenceMediaUrls" Kind::Uris(10), Optional, "PR-35" "LI-05";
    SavePrompt "vaultId" Kind::Id, Required, "PR-47";
    CreateVault "name" Kind::Text(1, 50), Required, "VA-17" "LI-06";
    CreateVault "description" Kind::Text(0, 200), Nullable, "VA-18" "LI-07";
    CreateVault "visibility" VISIBILITIES, Optional, "VA-19" "VA-20";
    UpdateVault "name" Kind::Text(1, 50), Optional, "VA-24" "LI-06";
    UpdateVault "description" Kind::Text(0, 200), Nullable, "VA-24" "LI-07";
    UpdateVault "visibility" VISIBILITIES, Optional, "VA-24" "VA-20";
    AddPrompts "promptIds" Kind::Ids(1, 50), Required, "VC-12" "LI-08";
    MovePrompt "targetVaultId" Kind::PositiveId, Required, "VC-22";
    Generate "modelId" Kind::AnyText, Required, "GE-07";
    Generate "prompt" Kind::Text(0, 100_000), Required, "GE-08" "LI-09";
    Generate "generationType" MEDIA, Optional, "GE-09" "GE-10";
    Generate "clientJobId" Kind::AnyText, Optional, "GE-11";
    Generate "negativePrompt" Kind::Text(0, 100_000), Optional, "GE-13" "LI-10";
    Generate "imageInput" Kind::Uri, Optional, "GE-15" "GE-25";
    Generate "imageInputs" Kind::Uris(7), Optional, "GE-16" "LI-11";
    Generate "aspectRatio" Kind::AnyText, Optional, "GE-17";
    Generate "batchCount" Kind::Integer(1, 4), Optional, "GE-19" "LI-13";
    Generate "parameters" Kind::Object, Optional, "GE-20";
    Generate "vaultId" Kind::Id, Optional, "GE-21";
    Generate "referenceImageUrls" Kind::Uris(7), Optional, "GE-23" "LI-12";
    Generate "imageEditEndpointId" Kind::AnyText, Optional, "GE-24";
    RequestSlot "contentType" PICTURES, Required, "UP-02" "LI-15";
    RequestSlot "size" Kind::Integer(1, 10_485_760), Required, "UP-03" "LI-14";
    ListPrompts "limit" Kind::Integer(1, 100), Optional, "PG-04" "LI-01";
    ListPrompts "vaultId" Kind::Id, Optional, "PR-17";
    ListPrompts "type" TYPES, Optional, "PR-16" "PR-18";
};
