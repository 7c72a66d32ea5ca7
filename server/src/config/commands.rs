//! The commands that work on the database.

use clap::Subcommand;

use super::values::{account_name, key_name, public_id, quoted, scopes, secret};
use crate::domain::Scopes;

/// A command that works on the database.
#[derive(Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum AdminCommand {
    /// Bring the schema of the database up to date.
    Migrate {
        /// Also distribute the tables over the nodes of a Citus cluster, by account. The database
        /// needs the extension citus, and all servers must be stopped.
        #[arg(long)]
        distribute: bool,
    },
    /// Create and list accounts.
    #[command(subcommand)]
    Account(AccountCommand),
    /// Create, list and revoke API keys.
    #[command(subcommand)]
    Key(KeyCommand),
    /// Print a link that signs a browser in, once and within 15 minutes.
    ///
    /// Its address is that of --public-url, or of the server that was started last.
    SignIn {
        /// Account to sign in to.
        #[arg(value_name = "ACCOUNT", value_parser = quoted(account_name))]
        account: String,
    },
}

#[derive(Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum AccountCommand {
    /// Create an account. `key create` makes keys for it.
    Create {
        /// Unique name of the account.
        #[arg(value_name = "NAME", value_parser = quoted(account_name))]
        name: String,
    },
    /// List all accounts.
    List,
}

#[derive(Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum KeyCommand {
    /// Create a key and print it. It cannot be shown again: only its digest is stored.
    Create {
        /// Account of the key.
        #[arg(long, value_name = "NAME", value_parser = quoted(account_name))]
        account: String,
        /// What the owner calls the key, such as the program that uses it.
        #[arg(long, value_name = "TEXT", value_parser = quoted(key_name))]
        name: Option<String>,
        /// What the key may do; repeatable. Default: everything. With `none` it can only read.
        #[arg(long, value_name = "prompts:write|none", value_parser = quoted(scopes))]
        scope: Vec<Scopes>,
    },
    /// List keys, without their secrets.
    List {
        /// Only the keys of this account.
        #[arg(long, value_name = "NAME", value_parser = quoted(account_name))]
        account: Option<String>,
    },
    /// Revoke a key permanently. All servers of the database refuse it at once.
    Revoke {
        /// The part of the key between `_live_` and the last `_`.
        #[arg(value_name = "PUBLIC_ID", value_parser = secret(public_id))]
        public_id: String,
    },
}
