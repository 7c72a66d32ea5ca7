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

use std::iter;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};
use clap_complete::Shell;
use clap_mangen::Man;

use self::args::{Arguments, Command};
use self::failure::{Failure, Result};
use self::output::{App, note, print};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let outcome = runtime.map_err(Failure::from).and_then(|runtime| {
        let outcome = runtime.block_on(Box::pin(run(arguments)));
        // A read of standard input may still be waiting.
        runtime.shutdown_background();
        outcome
    });
    let Err(failure) = outcome else { return ExitCode::SUCCESS };
    if failure.code != 0 {
        note(format!("promptarium: {failure}"));
    }
    ExitCode::from(failure.code)
}

async fn run(Arguments { json, command }: Arguments) -> Result {
    let app = || config::client().map(|client| App { client, json });
    match command {
        Command::Login { url } => config::login(&url).await,
        Command::Logout => config::logout(),
        Command::Completions { shell } => completions(shell),
        Command::Man => manual(),
        Command::Ls(selection) => prompts::list(&app()?, None, selection).await,
        Command::Search { words, selection } => {
            prompts::list(&app()?, Some(words.join(" ")), selection).await
        }
        Command::Show { text, raw } => prompts::show(&app()?, &text, raw).await,
        Command::Copy(text) => prompts::copy(&app()?, &text).await,
        Command::New { document, text } => prompts::new(&app()?, document, text).await,
        Command::Edit { prompt, from } => edit::edit(&app()?, &prompt, from.as_deref()).await,
        Command::Rm { prompts, yes } => prompts::rm(&app()?, &prompts, yes).await,
        Command::Vault(command) => vaults::run(&app()?, command).await,
        Command::Upload { files } => media::upload(&app()?, &files).await,
        Command::Generate(order) => media::generate(&app()?, order).await,
        Command::Export { folder, vault, delete } => {
            export::export(&app()?, &folder, vault.as_deref(), delete).await
        }
        Command::Import(arguments) => import::import(&app()?, &arguments).await,
        Command::Mcp(options) => mcp::run(app()?.client, options).await,
    }
}

fn completions(shell: Shell) -> Result {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "promptarium", &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// The manual pages of the program and of each command.
fn manual() -> Result {
    let mut program = Arguments::command();
    program.build();
    let mut pages = Vec::new();
    for command in iter::once(&program).chain(program.get_subcommands()) {
        Man::new(command.clone()).render(&mut pages)?;
    }
    print(&String::from_utf8_lossy(&pages))
}
