//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use promptarium::{PromptType, Visibility};

use crate::document::{Document, Export};
use crate::import::Import;
use crate::media::Order;

/// The prompts of a Promptarium library: in the shell, in a folder, in AI clients.
#[derive(Parser)]
#[command(
    name = "promptarium",
    version,
    after_help = "Examples:
  promptarium login https://prompts.example
  promptarium show \"Code review\" --set language=Rust --set code=@main.rs | llm
  promptarium generate local/plasma \"A harbour at dusk\" --count 2 -o pictures
  claude mcp add prompts -- promptarium mcp

PROMPTARIUM_BASE_URL and PROMPTARIUM_API_KEY take the place of a login. NO_COLOR turns colours off.
Exit status: 0 done, 1 failed, 2 wrong use, 3 server not reachable, 4 not found, 130 interrupted."
)]
pub(crate) struct Arguments {
    /// Print JSON, one object a line.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Do not ask.
    #[arg(short, long, global = true)]
    pub(crate) yes: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Log in to the library at this address (/api/v1 is added where it has no path); asks for the
    /// API key, or reads it from standard input.
    #[command(after_help = "Example: pass prompts/key | promptarium login localhost:8080")]
    Login { url: String },
    /// Forget the address and the key.
    Logout,
    /// List prompts, newest first.
    #[command(after_help = "Example: promptarium ls --vault Writing --json | jq -r .title")]
    Ls(Selection),
    /// Find prompts that have all these words.
    #[command(after_help = "Example: promptarium search code review --vault Work")]
    Search(Selection),
    /// Print the text of a prompt, with its variables filled in.
    #[command(after_help = "Examples:
  promptarium show 12 --set text=@notes.md | llm
  git diff | promptarium show \"Code review\" --set diff=- | llm")]
    Show(Filled),
    /// Copy the text of a prompt to the clipboard.
    #[command(after_help = "Example: promptarium copy Translate --set language=Polish")]
    Copy(Filled),
    /// Store a prompt; opens an editor if there is no text.
    #[command(after_help = "Example: promptarium new \"Code review\" @review.md --vault Work")]
    New {
        #[command(flatten)]
        document: Document,
        /// The text, @FILE, or - for standard input.
        text: Option<String>,
    },
    /// Change a prompt, by its id or title, in $VISUAL or $EDITOR.
    #[command(after_help = "Example: EDITOR='code --wait' promptarium edit \"Code review\"")]
    Edit {
        prompt: String,
        /// Take this file, such as one that an earlier edit kept, and open no editor.
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
    },
    /// Delete prompts, by their ids or titles.
    #[command(after_help = "Example: promptarium rm 12 \"Old draft\" --yes")]
    Rm {
        #[arg(required = true, value_name = "PROMPT")]
        prompts: Vec<String>,
    },
    /// Vaults and what is in them.
    #[command(subcommand)]
    Vault(VaultCommand),
    /// Upload pictures and print their addresses.
    #[command(after_help = "Example: promptarium upload *.png")]
    Upload {
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Generate pictures, and wait for them; after Ctrl-C the same command or --resume continues.
    #[command(
        after_help = "Example: promptarium generate local/plasma \"A harbour at dusk\" --ratio 16:9 -o ."
    )]
    Generate(Order),
    /// Write each prompt as a Markdown file, for git.
    #[command(after_help = "Example: promptarium export prompts && git -C prompts add -A")]
    Export(Export),
    /// Store the prompts of a folder of Markdown files, or of a CSV or JSON file.
    #[command(after_help = "Titles are in title, name, act, command or label; texts in content, \
prompt, text, value or template; CSV needs a header. A folder that was exported from the same \
library changes its prompts. It can be killed and started again: nothing is stored twice.

Example: promptarium import prompts.csv --vault Imported")]
    Import(Import),
    /// Serve the library to AI clients (Model Context Protocol).
    #[command(after_help = "Example: claude mcp add prompts -- promptarium mcp --vault Writing")]
    Mcp(Mcp),
    /// Print the completions of a shell.
    Completions { shell: clap_complete::Shell },
    /// Print the manual page.
    Man,
}

#[derive(Args)]
pub(crate) struct Selection {
    /// Only prompts that have all these words.
    pub(crate) words: Vec<String>,
    /// Only those in this vault: its name or id.
    #[arg(long)]
    pub(crate) vault: Option<String>,
    /// Only prompts of this type: text, image or video.
    #[arg(long = "type")]
    pub(crate) prompt_type: Option<PromptType>,
    /// At most this many; 0 for all.
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub(crate) limit: usize,
}

/// A prompt with the values of its variables.
#[derive(Args)]
pub(crate) struct Filled {
    /// Its id or title.
    pub(crate) prompt: String,
    /// The value of a variable: name=VALUE, name=@FILE, or name=- for standard input.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// Leave the variables as they are.
    #[arg(long, conflicts_with = "set")]
    pub(crate) raw: bool,
}

#[derive(Subcommand)]
pub(crate) enum VaultCommand {
    /// List the vaults.
    Ls,
    /// Make a vault.
    New {
        name: String,
        #[arg(long)]
        description: Option<String>,
        /// Who can read it: private, unlisted or public.
        #[arg(long)]
        visibility: Option<Visibility>,
    },
    /// Delete a vault; its prompts remain.
    Rm { vault: String },
    /// Add prompts to a vault.
    Add(Members),
    /// Take prompts out of a vault; the prompts remain.
    Remove(Members),
    /// Move a prompt from one vault to another.
    Move { prompt: String, from: String, to: String },
    /// Pin a prompt to the top of a vault.
    Pin {
        vault: String,
        prompt: String,
        /// Unpin it.
        #[arg(long)]
        off: bool,
    },
    /// Copy a public or unlisted vault of anybody with its prompts.
    Fork { id: i64 },
}

#[derive(Args)]
pub(crate) struct Members {
    pub(crate) vault: String,
    #[arg(required = true, value_name = "PROMPT")]
    pub(crate) prompts: Vec<String>,
}

#[derive(Args, Clone)]
pub(crate) struct Mcp {
    /// Offer the prompts of this vault; otherwise the pinned ones, or the newest if none is pinned.
    #[arg(long)]
    pub(crate) vault: Option<String>,
    /// Let the client store prompts and generate pictures.
    #[arg(long)]
    pub(crate) write: bool,
    /// Serve Streamable HTTP at this loopback address in place of standard input and output.
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<SocketAddr>,
    /// Look for changes this often and tell the client.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) watch: Option<u32>,
}
