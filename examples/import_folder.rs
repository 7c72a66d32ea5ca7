//! Imports a folder of prompts and pictures into a vault, eight at a time, with progress bars. It
//! may be killed at any time: started again, it continues, and nothing is stored or paid twice.
//!
//! ```console
//! $ cargo run --example import_folder                # a small folder of its own
//! $ cargo run --example import_folder -- FOLDER
//! $ cargo run --example import_folder -- --settle 5 FOLDER
//! ```
//!
//! - `NAME.txt` is a prompt: its title on the first line, then its text.
//! - `NAME.png`, `.jpg`, `.webp` or `.gif` is the picture of the prompt with this name.
//! - `NAME.generate.txt` is the text of an image to generate into the vault.
//!
//! The vault gets the name of the folder, and the journal is the file `import.journal` in it.
//! `--settle` is how many seconds a lost request may still be carried out by the service.
//!
//! Without `PROMPTARIUM_BASE_URL` it starts a reference server of its own, in memory.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example prints what it does")]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use futures::StreamExt as _;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use promptarium::durable::Journal;
use promptarium::{Client, VaultId};
use promptarium_examples::{Service, pictures};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const AT_ONCE: usize = 8;

#[tokio::main]
async fn main() -> Result<ExitCode> {
    let (folder, settle) = arguments()?;
    let service = Service::find().await?;
    let folder = match folder {
        Some(folder) => folder,
        None => {
            let folder = pictures::folder("import_folder")?;
            // The journal is that of a server that is gone.
            fs::remove_dir_all(&folder)?;
            sample(&folder)?;
            folder
        }
    };
    println!("Importing {} on {}", folder.display(), service.place());
    let entries = entries(&folder)?;
    let failures = import(service.client, &folder, &entries, settle).await?;
    for failure in &failures {
        eprintln!("{failure}");
    }
    if failures.is_empty() {
        println!("All {} entries are imported", entries.len());
        return Ok(ExitCode::SUCCESS);
    }
    let (failed, all) = (failures.len(), entries.len());
    eprintln!("{failed} of {all} entries failed; start it again to continue");
    Ok(ExitCode::FAILURE)
}

/// Imports the entries of the folder, and returns which of them failed and why.
async fn import(
    client: Client,
    folder: &Path,
    entries: &[Entry],
    settle: Duration,
) -> Result<Vec<String>> {
    let journal = Journal::open(&client, folder.join("import.journal")).await?;
    let journal = journal.with_settle(settle);
    let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy();
    let vault = journal.run("vault", client.vaults().create(name)).await?.id;
    let bars = Bars::new(entries);
    let import = Import { client, journal, vault, bars };
    let failures = futures::stream::iter(entries)
        .map(async |entry| {
            let failed = |error| format!("{}: {error}", entry.text.display());
            import.entry(entry).await.map_err(failed).err()
        })
        .buffer_unordered(AT_ONCE)
        .filter_map(std::future::ready)
        .collect()
        .await;
    import.bars.finish();
    Ok(failures)
}

struct Import {
    client: Client,
    journal: Journal,
    vault: VaultId,
    bars: Bars,
}

impl Import {
    async fn entry(&self, entry: &Entry) -> Result {
        let text = fs::read_to_string(&entry.text)?;
        if entry.is_generation {
            return self.generation(entry, text.trim()).await;
        }
        let (title, text) =
            text.trim_end().split_once('\n').ok_or("the file has no second line")?;
        let mut create = self.client.prompts().create(title.trim_end(), text).vault(self.vault);
        if let Some(picture) = &entry.picture {
            let upload = self.client.uploads().image(picture);
            let image = self.journal.run(key(picture), upload).await?;
            self.bars.pictures.inc(1);
            create = create.image_url(image.url);
        }
        self.journal.run(key(&entry.text), create).await?;
        self.bars.prompts.inc(1);
        Ok(())
    }

    async fn generation(&self, entry: &Entry, text: &str) -> Result {
        let generations = self.client.generations();
        let create = generations.create(pictures::image_model(), text).vault(self.vault);
        let job = self.journal.run(key(&entry.text), create).await?;
        // Waiting changes nothing, so it needs no line in the journal.
        generations.wait(job).await?;
        self.bars.generations.inc(1);
        Ok(())
    }
}

/// The key of a step: the name of its file.
fn key(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

struct Entry {
    text: PathBuf,
    picture: Option<PathBuf>,
    is_generation: bool,
}

/// The prompts and generations of the folder, in the order of their names.
fn entries(folder: &Path) -> Result<Vec<Entry>> {
    let files = fs::read_dir(folder)?.map(|file| file.map(|file| file.path()));
    let mut texts = files.collect::<std::io::Result<Vec<_>>>()?;
    texts.retain(|file| file.extension().is_some_and(|extension| extension == "txt"));
    texts.sort();
    let entry = |text: PathBuf| {
        let pictures =
            ["png", "jpg", "webp", "gif"].map(|extension| text.with_extension(extension));
        let picture = pictures.into_iter().find(|picture| picture.is_file());
        let is_generation = key(&text).ends_with(".generate.txt");
        Entry { text, picture, is_generation }
    };
    Ok(texts.into_iter().map(entry).collect())
}

struct Bars {
    pictures: ProgressBar,
    prompts: ProgressBar,
    generations: ProgressBar,
}

impl Bars {
    fn new(entries: &[Entry]) -> Self {
        let style = ProgressStyle::with_template("{msg:>11} [{bar:40}] {pos} of {len}, {eta} left");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("##-");
        let bars = MultiProgress::new();
        let bar = |name, is_counted: &dyn Fn(&Entry) -> bool| {
            let total = entries.iter().filter(|entry| is_counted(entry)).count();
            let bar = ProgressBar::new(total as u64).with_style(style.clone()).with_message(name);
            bars.add(bar)
        };
        Self {
            pictures: bar("pictures", &|entry| entry.picture.is_some()),
            prompts: bar("prompts", &|entry| !entry.is_generation),
            generations: bar("generations", &|entry| entry.is_generation),
        }
    }

    fn finish(&self) {
        for bar in [&self.pictures, &self.prompts, &self.generations] {
            bar.abandon();
        }
    }
}

/// The folder and the settle time.
fn arguments() -> Result<(Option<PathBuf>, Duration)> {
    let (mut folder, mut settle) = (None, Duration::from_secs(30));
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--settle" {
            let seconds = arguments.next().and_then(|seconds| seconds.to_str()?.parse().ok());
            settle = Duration::try_from_secs_f64(seconds.ok_or("--settle takes seconds")?)?;
        } else if folder.replace(PathBuf::from(argument)).is_some() {
            return Err("import_folder takes one folder".into());
        }
    }
    Ok((folder, settle))
}

/// Makes a folder with three prompts, two pictures and one generation.
fn sample(folder: &Path) -> Result {
    fs::create_dir_all(folder)?;
    for (name, text) in [
        ("dunes.txt", "Dunes\nDunes after rain, muted colours"),
        ("harbour.txt", "Harbour\nA harbour before sunrise, long exposure"),
        ("tone.txt", "Tone\nAnswer in two sentences."),
        ("lighthouse.generate.txt", "A lighthouse in fog"),
    ] {
        fs::write(folder.join(name), text)?;
    }
    for name in ["dunes.png", "harbour.png"] {
        fs::write(folder.join(name), pictures::small_png()?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use promptarium::testing::{ProblemKind, explore_with};

    use super::*;

    /// Every failure at every request, and a crash there: started again, the import has stored
    /// everything once. The bytes of a picture may be sent again, which nothing shows.
    #[tokio::test(start_paused = true)]
    async fn no_failure_at_any_request_loses_or_doubles_anything() {
        let report = explore_with(
            async |_| {
                let folder = tempfile::tempdir().unwrap();
                // The vault has the name of the folder.
                let harbours = folder.path().join("harbours");
                sample(&harbours).unwrap();
                (folder, harbours)
            },
            async |client, (_, harbours)| {
                let entries = entries(harbours).map_err(|error| error.to_string())?;
                let failures = import(client, harbours, &entries, Duration::from_secs(30)).await;
                match failures.map_err(|error| error.to_string())?.first() {
                    Some(failure) => Err(failure.clone()),
                    None => Ok(()),
                }
            },
        );
        let report = report.await;
        assert!(report.cases() > 100, "{} cases", report.cases());
        report.allow(|problem| problem.kind == ProblemKind::UploadedTwice).assert_clean();
    }
}
