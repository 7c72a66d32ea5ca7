//! Vaults themselves: what they show, making, listing, changing, deleting and
//! forking them. What is in a vault belongs to `contents`.

mod count;
mod object;
mod slug;
mod system;

mod create;
mod list;
mod read;
mod update;

mod delete;
mod fork;
mod race;

use serde_json::Value;

use crate::wire::{Reply, Wire};
use crate::{Failure, Scenario};

pub(super) const ALL: &[&[Scenario]] = &[
    object::ALL,
    count::ALL,
    slug::ALL,
    system::ALL,
    create::ALL,
    list::ALL,
    read::ALL,
    update::ALL,
    delete::ALL,
    fork::ALL,
    fork::independence::ALL,
    fork::choices::ALL,
    race::ALL,
];

/// The vault as its own address shows it.
async fn read(wire: &Wire, vault: i64) -> Result<Reply, Failure> {
    let reply = wire.get(&format!("/vaults/{vault}")).await?;
    reply.status(200)?;
    Ok(reply)
}

/// All vaults of the caller.
async fn list(wire: &Wire) -> Result<Reply, Failure> {
    let reply = wire.get("/vaults").await?;
    reply.status(200)?;
    Ok(reply)
}

/// Two showings of one vault have the same keys of the vault object and, but
/// for the moments and the cover, which a server may pick and sign anew for every
/// answer (S-15), the same values.
fn same_object(got: &Value, expected: &Value) -> Result<(), Failure> {
    const VALUES: [&str; 9] = [
        "id",
        "name",
        "description",
        "slug",
        "visibility",
        "accessType",
        "isLocked",
        "isSystem",
        "promptCount",
    ];
    let text = |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
    for key in VALUES {
        if got.get(key) != expected.get(key) {
            let (got, expected) = (text(got.get(key)), text(expected.get(key)));
            return Err(Failure::failed(format!("{key} to be {expected}"), got));
        }
    }
    for key in ["createdAt", "updatedAt", "coverImageUrl"] {
        if got.get(key).is_none() {
            return Err(Failure::failed(format!("{key} in the vault object"), "nothing"));
        }
    }
    Ok(())
}
