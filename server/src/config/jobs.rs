//! The flags for the processing of generations.

use clap::Args;

use super::values::{integer, quoted};
use crate::generate::JobSettings;
use crate::generate::queue::fields::{MODEL_FIELDS, ModelField};
use crate::limits::{JOB_KEEP_DAYS, JOB_RETRY_HOURS, OUTPUT_MAX_MIB, WORKERS_DEFAULT};

#[derive(Args)]
pub(super) struct JobFlags {
    /// Number of generations processed at once. One account has at most half of them.
    #[arg(long, value_name = "NUMBER", value_parser = quoted(integer::<0, 1000>))]
    #[arg(default_value_t = WORKERS_DEFAULT)]
    workers: usize,
    /// How long a generation is tried again while its provider, the storage or the database fails.
    #[arg(long, value_name = "HOURS", value_parser = quoted(integer::<1, 10_000>))]
    #[arg(default_value_t = JOB_RETRY_HOURS)]
    job_retry_hours: usize,
    /// When the records of ended generations are deleted. Their outputs stay.
    #[arg(long, value_name = "DAYS", value_parser = quoted(integer::<1, 100_000>))]
    #[arg(default_value_t = JOB_KEEP_DAYS)]
    job_keep_days: usize,
    /// Largest output of a generation. A larger one fails it.
    #[arg(long, value_name = "MIB", value_parser = quoted(integer::<1, 65_536>))]
    #[arg(default_value_t = OUTPUT_MAX_MIB)]
    output_max_mib: usize,
    /// Field that models of the queue provider take, by the beginning of their ids: aspect_ratio or
    /// image_size for aspectRatio, image_url or image_urls for imageInput; repeatable.
    #[arg(long, value_name = "PREFIX=FIELD", value_parser = quoted(model_field))]
    #[arg(value_delimiter = ' ')]
    pub(super) model_field: Vec<(String, ModelField)>,
}

fn model_field(text: &str) -> Result<(String, ModelField), String> {
    let (prefix, name) = text.split_once('=').unwrap_or_default();
    let field = MODEL_FIELDS.iter().find(|(known, _)| *known == name);
    let names = || MODEL_FIELDS.map(|(name, _)| name).join(", ");
    let field = field.ok_or_else(|| format!("is not PREFIX=FIELD with a field of: {}", names()))?;
    Ok((prefix.to_owned(), field.1))
}

impl From<JobFlags> for JobSettings {
    fn from(flags: JobFlags) -> Self {
        Self {
            workers: flags.workers,
            retry_hours: flags.job_retry_hours,
            keep_days: flags.job_keep_days,
            output_max_mib: flags.output_max_mib,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_field_is_a_prefix_and_a_field() {
        assert_eq!(model_field("acme/a=image_size"), Ok(("acme/a".into(), ModelField::ImageSize)));
        assert_eq!(model_field("=image_urls"), Ok((String::new(), ModelField::ImageUrls)));
        for wrong in ["", "acme", "acme=size", "acme=", "=a=image_url"] {
            let problem = model_field(wrong).unwrap_err();
            assert!(problem.ends_with("of: aspect_ratio, image_size, image_url, image_urls"));
        }
    }
}
