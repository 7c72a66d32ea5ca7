//! The records by chapter, for formats that show them so.

use super::{Record, Report, Totals};

/// The scenarios whose ids begin with the same word.
pub(super) struct Chapter<'r> {
    pub(super) name: &'static str,
    pub(super) totals: Totals,
    pub(super) records: Vec<&'r Record>,
}

impl Chapter<'_> {
    /// How long its scenarios took, each for itself.
    pub(super) fn duration_ms(&self) -> u64 {
        self.records.iter().map(|record| record.duration_ms).sum()
    }
}

/// Every chapter that has a record, in the order in which they first come.
pub(super) fn of(report: &Report) -> Vec<Chapter<'_>> {
    let mut chapters: Vec<Chapter<'_>> = Vec::new();
    for record in &report.records {
        let name = record.chapter();
        let at = chapters.iter().position(|chapter| chapter.name == name).unwrap_or_else(|| {
            chapters.push(Chapter { name, totals: Totals::default(), records: Vec::new() });
            chapters.len() - 1
        });
        if let Some(chapter) = chapters.get_mut(at) {
            chapter.totals.count(record);
            chapter.records.push(record);
        }
    }
    chapters
}
