//! The commands that work on the data.

use std::path::PathBuf;

use clap::Subcommand;

use super::values::{key_name, public_id};
use crate::domain::{Scopes, account_name};

/// A command that works on the data.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum AdminCommand {
    /// Bring the schema of the database up to date.
    #[cfg(feature = "postgres")]
    Migrate {
        /// Also distribute the tables over the nodes of a Citus cluster, by account. The database
        /// needs the extension citus, and all servers must be stopped.
        #[arg(long)]
        distribute: bool,
    },
    /// Write a consistent copy of the data folder, also while its server runs.
    #[cfg(feature = "folder")]
    Backup {
        /// Archive to create, such as promptarium.zip.
        file: PathBuf,
    },
    /// Put a backup into the data folder, which must be new or empty.
    #[cfg(feature = "folder")]
    Restore {
        /// Archive that `backup` has written.
        file: PathBuf,
    },
    /// Create, list, rename, delete, export and import accounts.
    #[command(subcommand)]
    Account(AccountCommand),
    /// Create, list and revoke API keys.
    #[command(subcommand)]
    Key(KeyCommand),
    /// List and end the browser sessions of an account.
    #[command(subcommand)]
    Session(SessionCommand),
    /// List webhooks, and disable one.
    #[cfg(feature = "webhooks")]
    #[command(subcommand)]
    Webhook(WebhookCommand),
    /// Print a link that signs a browser in, once and within 15 minutes.
    ///
    /// Its address is that of --public-url, or of the server that was started last.
    SignIn {
        /// Account to sign in to.
        #[arg(value_name = "ACCOUNT", value_parser = account_name)]
        account: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum AccountCommand {
    /// Create an account. `key create` makes keys for it.
    Create {
        /// Unique name of the account.
        #[arg(value_name = "NAME", value_parser = account_name)]
        name: String,
    },
    /// List all accounts.
    List,
    /// Give an account another name. Its keys and sessions stay valid.
    Rename {
        /// Present name.
        #[arg(value_name = "OLD", value_parser = account_name)]
        old: String,
        /// New name.
        #[arg(value_name = "NEW", value_parser = account_name)]
        new: String,
    },
    /// Delete an account with its prompts, vaults, jobs, keys and sessions. Files stay: other accounts
    /// may have forked them.
    Delete {
        /// Account to delete.
        #[arg(value_name = "NAME", value_parser = account_name)]
        name: String,
        /// Confirm that everything is deleted.
        #[arg(long)]
        yes: bool,
    },
    /// Print the prompts and vaults of an account as JSON, with references to files.
    Export {
        /// Account to export.
        #[arg(value_name = "NAME", value_parser = account_name)]
        name: String,
        /// Write an archive with the files too, instead of printing.
        #[arg(long, value_name = "ARCHIVE.zip")]
        #[cfg(feature = "folder")]
        with_files: Option<PathBuf>,
    },
    /// Add the prompts and vaults of an export to an account, all or none.
    Import {
        /// Account to add to.
        #[arg(value_name = "NAME", value_parser = account_name)]
        name: String,
        /// What `account export` has printed or written; `-` reads standard input.
        file: PathBuf,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum SessionCommand {
    /// List the sessions of an account.
    List {
        /// Account of the sessions.
        #[arg(value_name = "ACCOUNT", value_parser = account_name)]
        account: String,
    },
    /// End a session. All servers refuse it at once.
    End {
        /// Account of the session.
        #[arg(value_name = "ACCOUNT", value_parser = account_name)]
        account: String,
        /// Number of the session, as `session list` shows it.
        #[arg(value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
        id: Option<i64>,
        /// End all sessions of the account.
        #[arg(long)]
        all: bool,
    },
}

#[cfg(feature = "webhooks")]
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum WebhookCommand {
    /// List webhooks, without their secrets.
    List {
        /// Only the webhooks of this account.
        #[arg(long, value_name = "NAME", value_parser = account_name)]
        account: Option<String>,
    },
    /// Disable a webhook. Its owner can enable it again.
    Disable {
        /// Account of the webhook.
        #[arg(value_name = "ACCOUNT", value_parser = account_name)]
        account: String,
        /// Number of the webhook, as `webhook list` shows it.
        id: i64,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum KeyCommand {
    /// Create a key and print it. It cannot be shown again: only its digest is stored.
    Create {
        /// Account of the key.
        #[arg(long, value_name = "NAME", value_parser = account_name)]
        account: String,
        /// What the owner calls the key, such as the program that uses it.
        #[arg(long, value_name = "TEXT", value_parser = key_name)]
        name: Option<String>,
        /// What the key may do beside reading. Default: everything.
        #[arg(long, value_name = "prompts:write|none", value_parser = Scopes::parse)]
        scope: Option<Scopes>,
    },
    /// List keys, without their secrets.
    List {
        /// Only the keys of this account.
        #[arg(long, value_name = "NAME", value_parser = account_name)]
        account: Option<String>,
    },
    /// Revoke a key permanently. All servers refuse it at once.
    Revoke {
        /// The part of the key between `_live_` and the last `_`.
        #[arg(value_name = "PUBLIC_ID", value_parser = public_id)]
        public_id: String,
    },
}
