//! How long a search takes that reads everything, and one that finds a page at once.
//!
//! Accounts of 10,000 and 100,000 prompts of 800 characters, English and Chinese, in memory and in
//! PostgreSQL. A search over HTTP follows the cursors until it has 20 prompts or nothing is left. A
//! median above its bound ends with exit code 1.
//!
//! `script/bench` runs it; `docs/reference/benchmarks.md` has the results.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::error::Error;
use std::time::{Duration, Instant};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use promptarium::Client;
use promptarium_server::EmbeddedServer;
use promptarium_server::test_support::ScratchDatabase;

type Result<T = ()> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const TEXT_CHARS: usize = 800;
/// Prompts of an account, how often each search is measured, and how much longer than in the smaller
/// account it may take.
const SIZES: [(usize, usize, u32); 2] = [(10_000, 15, 1), (100_000, 5, 10)];
const PAGE: usize = 20;

struct Language {
    name: &'static str,
    /// In no prompt, in the oldest one only, in all.
    words: [&'static str; 3],
    /// Between two words.
    space: &'static str,
    /// A word of the vocabulary.
    word: fn(usize) -> String,
    /// For the search in 10,000 prompts that reads all of them.
    bound: Duration,
}

const LANGUAGES: [Language; 2] = [
    Language {
        name: "English",
        words: ["quicksilver", "kingfisher", "harbour"],
        space: " ",
        word: |number| {
            const SYLLABLES: [&str; 16] = [
                "ma", "re", "lin", "tor", "sa", "pel", "no", "dri", "ka", "ven", "lo", "mis", "tu",
                "ber", "an", "fi",
            ];
            let syllables = [number % 16, number / 16 % 16, number / 256 % 16];
            syllables.map(|at| SYLLABLES[at]).concat()
        },
        bound: Duration::from_millis(60),
    },
    Language {
        name: "Chinese",
        words: ["翡翠", "鸬鹚", "港口"],
        space: "，",
        word: |number| {
            let character = |at: usize| char::from_u32(0x5000 + at as u32 % 0x1800);
            (0..8).filter_map(|at| character(number * 7 + at * 311)).collect()
        },
        bound: Duration::from_millis(150),
    },
];

/// A text of random words, with one in its middle.
fn text(language: &Language, word: &str) -> String {
    let half = || {
        let mut half = String::new();
        while half.chars().count() < TEXT_CHARS / 2 {
            half.push_str(&(language.word)(fastrand::usize(..4096)));
            half.push_str(language.space);
        }
        half
    };
    let whole = [half(), word.to_owned(), language.space.to_owned(), half()].concat();
    whole.chars().take(TEXT_CHARS).collect()
}

fn key(prompts: usize, language: &Language) -> String {
    format!("promptarium_live_{}{prompts}_s3cret", language.name.to_lowercase())
}

/// Fills an account. The oldest prompt has the rare word.
async fn fill(client: &Client, prompts: usize, language: &Language) -> Result {
    let [_, rare, frequent] = language.words;
    client.prompts().create(rare, text(language, frequent)).await?;
    let creates = (1..prompts).map(|number| {
        client.prompts().create(format!("Study {number}"), text(language, frequent)).send()
    });
    let mut creates = stream::iter(creates).buffer_unordered(64);
    while creates.try_next().await?.is_some() {}
    Ok(())
}

/// The time of a search, and how many prompts it found.
async fn search(client: &Client, word: &str) -> Result<(Duration, usize)> {
    let list = client.prompts().list().search(word).max_items(PAGE);
    let began = Instant::now();
    let found = list.collect().await?;
    Ok((began.elapsed(), found.len()))
}

/// Measures all searches of one store. Returns the rows beyond their bound.
async fn measure(
    store: &str,
    server: &EmbeddedServer,
    sizes: &[(usize, usize, u32)],
) -> Result<Vec<String>> {
    let mut failed = Vec::new();
    for &(prompts, rounds, times) in sizes {
        for language in &LANGUAGES {
            let client = Client::new(server.base_url(), key(prompts, language))?;
            fill(&client, prompts, language).await?;
            // At once after so many writes the database has no statistics.
            let (first, _) = search(&client, language.words[0]).await?;
            println!("| {store} | {prompts} | {} | none, first | {first:.1?} | |", language.name);
            let expected = [0, 1, PAGE];
            for (number, what) in ["none", "rare", "frequent"].into_iter().enumerate() {
                let mut all = Vec::new();
                for _ in 0..rounds {
                    let (time, found) = search(&client, language.words[number]).await?;
                    if found != expected[number] {
                        return Err(format!("{what}: {found} prompts").into());
                    }
                    all.push(time);
                }
                all.sort_unstable();
                let median = all[rounds / 2];
                let bound =
                    if what == "frequent" { language.bound / 3 } else { language.bound * times };
                let name = language.name;
                println!("| {store} | {prompts} | {name} | {what} | {median:.1?} | {bound:.0?} |");
                if median > bound {
                    failed.push(format!("{store}, {prompts}, {name}, {what}"));
                }
            }
        }
    }
    Ok(failed)
}

#[tokio::main]
async fn main() -> Result {
    // `cargo bench` and `cargo test --benches` hand over flags of their own.
    if std::env::args().any(|argument| argument == "--test" || argument == "--list") {
        return Ok(());
    }
    let is_quick = std::env::var_os("PROMPTARIUM_BENCH_QUICK").is_some();
    let sizes = &SIZES[..if is_quick { 1 } else { SIZES.len() }];
    let mut failed = Vec::new();
    println!("| Store | Prompts | Texts | Word | Time | Bound |\n|---|---|---|---|---|---|");
    for store in ["memory", "PostgreSQL"] {
        let mut builder = EmbeddedServer::builder();
        for (prompts, ..) in SIZES {
            for language in &LANGUAGES {
                let account = format!("{}-{prompts}", language.name);
                builder = builder.seed_key(format!("{}={account}", key(prompts, language)));
            }
        }
        let database = ScratchDatabase::create().await?;
        let server = match store {
            "memory" => builder.start().await?,
            _ => builder.database_url(database.url()).start().await?,
        };
        failed.extend(measure(store, &server, sizes).await?);
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(format!("above the bound: {}", failed.join("; ")).into())
}
