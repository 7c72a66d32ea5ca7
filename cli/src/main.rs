//! The command line of a prompt library, and its server for AI clients. It is an application of
//! the published client `promptarium` and works with every implementation of the API.

mod args;
mod config;
mod document;
mod edit;
mod export;
mod failure;
mod fill;
mod find;
mod import;
mod mcp;
mod media;
mod output;
mod prompts;
mod vaults;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use self::args::{Arguments, Command};
use self::failure::Result;
use self::output::{Output, note, print};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let outcome = match runtime {
        Ok(runtime) => {
            let outcome = runtime.block_on(Box::pin(run(arguments)));
            // A read of standard input may still be waiting.
            runtime.shutdown_background();
            outcome
        }
        Err(error) => Err(error.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if failure.code != 0 {
                note(format!("promptarium: {failure}"));
            }
            ExitCode::from(failure.code)
        }
    }
}

async fn run(Arguments { json, command }: Arguments) -> Result {
    let output = Output { json };
    let client = || config::client();
    match command {
        Command::Login { url } => config::login(&url).await,
        Command::Logout => config::logout(),
        Command::Ls(selection) => prompts::list(&client()?, output, None, selection).await,
        Command::Search { words, selection } => {
            prompts::list(&client()?, output, Some(words.join(" ")), selection).await
        }
        Command::Show { text, raw } => prompts::show(&client()?, output, &text, raw).await,
        Command::Copy(text) => prompts::copy(&client()?, output, &text).await,
        Command::New { title, text, fields } => {
            prompts::new(&client()?, output, title, text, fields).await
        }
        Command::Edit { prompt, from } => {
            edit::edit(&client()?, output, &prompt, from.as_deref()).await
        }
        Command::Rm { prompts, yes } => prompts::rm(&client()?, output, &prompts, yes).await,
        Command::Vault(command) => vaults::run(&client()?, output, command).await,
        Command::Upload { files } => media::upload(&client()?, output, &files).await,
        Command::Generate(arguments) => media::generate(&client()?, output, arguments).await,
        Command::Export { folder, vault, delete } => {
            export::export(&client()?, output, &folder, vault.as_deref(), delete).await
        }
        Command::Import(arguments) => import::import(&client()?, output, &arguments).await,
        Command::Mcp(options) => mcp::run(&client()?, options).await,
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "promptarium", &mut script);
            print(&String::from_utf8_lossy(&script))
        }
        Command::Man => manual(),
    }
}

/// The manual page: of the program, then of each command.
fn manual() -> Result {
    let mut command = Arguments::command();
    command.build();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for command in command.get_subcommands() {
        clap_mangen::Man::new(command.clone()).render_description_section(&mut page)?;
    }
    print(&String::from_utf8_lossy(&page))
}
