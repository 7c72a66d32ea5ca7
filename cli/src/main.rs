//! The command line of a prompt library, and its server for AI clients. It is an application of
//! the published client `promptarium` and works with every implementation of the API.

mod app;
mod args;
mod config;
mod document;
mod find;
mod import;
mod mcp;
mod media;
mod prompts;

use std::{iter, process};

use clap::{CommandFactory as _, Parser as _};
use clap_mangen::Man;

use self::app::{App, Result, note, print};
use self::args::{Arguments, Command};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let failure = Box::pin(run(Arguments::parse())).await.err();
    if let Some(failure) = failure.as_ref().filter(|failure| failure.code != 0) {
        note(format!("promptarium: {failure}"));
    }
    // A read of standard input may still be waiting.
    process::exit(failure.map_or(0, |failure| failure.code.into()))
}

async fn run(Arguments { json, yes, command }: Arguments) -> Result {
    let app = || config::client().map(|client| App { client, json, yes });
    match command {
        Command::Login { url } => config::login(&url).await,
        Command::Logout => config::logout(),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "promptarium", &mut script);
            print(script)
        }
        Command::Man => {
            let mut program = Arguments::command();
            program.build();
            let mut pages = Vec::new();
            for command in iter::once(&program).chain(program.get_subcommands()) {
                Man::new(command.clone()).render(&mut pages)?;
            }
            print(pages)
        }
        Command::Ls(selection) | Command::Search(selection) => {
            prompts::list(&app()?, selection).await
        }
        Command::Show(text) => prompts::show(&app()?, &text).await,
        Command::Copy(text) => prompts::copy(&app()?, &text).await,
        Command::New { document, text } => prompts::new(&app()?, document, text).await,
        Command::Edit { prompt, from } => prompts::edit(&app()?, &prompt, from).await,
        Command::Rm { prompts } => prompts::rm(&app()?, &prompts).await,
        Command::Vault(command) => prompts::vault(&app()?, command).await,
        Command::Upload { files } => media::upload(&app()?, &files).await,
        Command::Generate(order) => media::generate(&app()?, order).await,
        Command::Export(arguments) => document::export(&app()?, &arguments).await,
        Command::Import(arguments) => import::import(&app()?, &arguments).await,
        Command::Mcp(options) => mcp::run(app()?.client, options).await,
    }
}
