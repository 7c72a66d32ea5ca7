//! The environment variables that configure a run. Keys come only from here: a flag would show
//! them in every list of processes.

use url::Url;

use crate::TargetConfig;

/// The API root, ending in `/api/v1`.
pub const BASE_URL: &str = "PROMPTARIUM_BASE_URL";
/// A key with `prompts:write`.
pub const API_KEY: &str = "PROMPTARIUM_API_KEY";
/// A key of the same account without it.
pub const READ_ONLY_API_KEY: &str = "PROMPTARIUM_READ_ONLY_API_KEY";
/// A key with `prompts:write` of another account.
pub const OTHER_API_KEY: &str = "PROMPTARIUM_OTHER_API_KEY";
/// A revoked key.
pub const REVOKED_API_KEY: &str = "PROMPTARIUM_REVOKED_API_KEY";
/// A model id that image prompts may name.
pub const IMAGE_MODEL: &str = "PROMPTARIUM_IMAGE_MODEL";
/// A model id that video prompts may name.
pub const VIDEO_MODEL: &str = "PROMPTARIUM_VIDEO_MODEL";

/// Shorter texts are no keys of the form `<vendor>_live_<id>_<secret>`, and redacting them would
/// make reports unreadable.
const KEY_LENGTH_MIN: usize = 10;

/// Reads a target's configuration; `variable` looks a variable up, and `base_url` takes the place
/// of [`BASE_URL`]. An empty variable counts as not set. The error is one line without any key.
pub fn target_config(
    base_url: Option<&str>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<TargetConfig, String> {
    let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
    let base_url = base_url.map(str::to_owned).or_else(|| variable(BASE_URL)).ok_or_else(|| {
        format!("no target: give --base-url, or set {BASE_URL} to an address that ends in /api/v1")
    })?;
    let base_url = checked_url(&base_url)?;
    let api_key = variable(API_KEY).ok_or_else(|| format!("no API key: set {API_KEY}"))?;
    let mut config = TargetConfig::new(base_url, api_key);
    config.read_only_api_key = variable(READ_ONLY_API_KEY);
    config.other_api_key = variable(OTHER_API_KEY);
    config.revoked_api_key = variable(REVOKED_API_KEY);
    config.image_model = variable(IMAGE_MODEL).unwrap_or(config.image_model);
    config.video_model = variable(VIDEO_MODEL).unwrap_or(config.video_model);
    check_keys(&config)?;
    Ok(config)
}

fn checked_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("the base URL is no URL: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err("the base URL must start with http:// or https://".into());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("the base URL must not hold a user name or password".into());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("the base URL must not have a query or a fragment".into());
    }
    if !url.path().trim_end_matches('/').ends_with("/api/v1") {
        return Err(format!("the base URL must end in /api/v1, which {url} does not"));
    }
    Ok(url)
}

/// Two equal keys would make one account look like two, and its own resources like a leak.
fn check_keys(config: &TargetConfig) -> Result<(), String> {
    let keys: Vec<_> = config.keys().collect();
    for (at, (name, key)) in keys.iter().enumerate() {
        if key.len() < KEY_LENGTH_MIN || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(format!(
                "{name} is no API key: {KEY_LENGTH_MIN} or more printable ASCII characters \
                 without spaces are expected"
            ));
        }
        if let Some((twin, _)) = keys[..at].iter().find(|(_, earlier)| earlier == key) {
            return Err(format!("{name} and {twin} hold the same key"));
        }
    }
    Ok(())
}
