//! The versions of the schema that this program knows, embedded.
//!
//! One is added for each change and none is ever altered: what it was is kept in
//! every database it was applied to. Each must be able to run in a transaction.

use sha2::{Digest as _, Sha256};

/// One step from a schema to the next.
#[derive(Debug)]
pub(in crate::store::postgres) struct Version {
    /// Such as `V1__first`; the number is its place in the list.
    pub(in crate::store::postgres) name: &'static str,
    /// What it does.
    pub(in crate::store::postgres) sql: &'static str,
}

/// All versions, in their order.
pub(in crate::store::postgres) const LIST: &[Version] = &[
    Version { name: "V1__first", sql: include_str!("../../../../migrations/V1__first.sql") },
    Version {
        name: "V2__vault_mark",
        sql: include_str!("../../../../migrations/V2__vault_mark.sql"),
    },
    Version {
        name: "V3__drop_vault_mark",
        sql: include_str!("../../../../migrations/V3__drop_vault_mark.sql"),
    },
];

impl Version {
    /// Tells this text from any other; how its lines end does not count, because
    /// that depends on how the source was checked out.
    pub(in crate::store::postgres) fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.sql.replace("\r\n", "\n")).into()
    }
}

#[cfg(test)]
mod tests {
    use super::LIST;

    #[test]
    fn every_file_is_in_the_list_in_the_order_of_its_number() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations");
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name());
        let mut files: Vec<_> = files.map(|file| file.into_string().unwrap()).collect();
        let number = |file: &str| file[1..].split_once("__").unwrap().0.parse::<usize>().unwrap();
        files.sort_by_key(|file| number(file));
        let listed: Vec<_> = LIST.iter().map(|version| format!("{}.sql", version.name)).collect();
        assert_eq!(listed, files);
        for (place, file) in files.iter().enumerate() {
            assert_eq!(number(file), place + 1, "{file}");
        }
    }
}
