//! The summary: within GitHub's limit, and nothing that a target says is markup.

use promptarium_conformance::report::markdown;

use super::kinds;
use crate::prelude::*;

/// The lines outside of blocks of code.
fn outside(page: &str) -> Vec<&str> {
    let mut fence: Option<usize> = None;
    let mut lines = Vec::new();
    for line in page.lines() {
        let row = line.len() - line.trim_start_matches('`').len();
        match fence {
            None if row >= 3 => fence = Some(row),
            None => lines.push(line),
            Some(open) if row >= open && line.len() == row => fence = None,
            Some(_) => {}
        }
    }
    assert_eq!(fence, None, "a block is not closed");
    lines
}

#[tokio::test]
async fn what_a_target_says_stays_within_blocks_of_code() {
    let page = markdown::render(&kinds::report().await);
    assert!(page.contains("onerror=alert(1)"));
    for line in outside(&page) {
        assert!(!line.contains("onerror") && !line.contains("fence"), "{line}");
        let tag = line.replace("<details><summary>", "").replace("</summary>", "");
        assert!(!tag.replace("</details>", "").contains('<'), "{line}");
    }
    assert!(page.contains("&lt;b&gt;Somebody&lt;/b&gt; is on it"));
}

#[tokio::test]
async fn a_summary_says_verdict_chapters_and_failures() {
    let page = markdown::render(&kinds::report().await);
    assert!(page.starts_with("## ❌ Conformance: failed\n"), "{page}");
    assert!(page.contains("| **plain** | 1 | 1 | 1 | 1 | 1 | 0 |"), "{page}");
    assert!(page.contains("| **known** | 0 | 2 | 0 | 0 | 0 | 1 |"), "{page}");
    assert!(page.contains("#### plain.fails.badly"), "{page}");
}

#[tokio::test]
async fn however_much_failed_a_summary_has_room_on_github() {
    let report = kinds::report().await;
    let failed: Vec<_> = report.with(&[Outcome::Failed]).cloned().collect();
    // A cause of its own for each.
    let another = |(n, record): (usize, &Record)| Record {
        got: Some(format!("{:?}{}", record.got, "x".repeat(n))),
        ..record.clone()
    };
    let records = failed.iter().cycle().take(1000).enumerate().map(another).collect();
    let page = markdown::render(&Report { records, ..report });
    assert!(page.len() < 1 << 20, "{}", page.len());
    assert!(page.len() > 1 << 19, "there was room for more: {}", page.len());
    let left_out = outside(&page).into_iter().find(|line| line.contains("have no room here"));
    let left_out: usize = left_out.unwrap().split(' ').next().unwrap().parse().unwrap();
    let shown = outside(&page).iter().filter(|line| line.starts_with("#### ")).count();
    assert_eq!(shown + left_out, 1000);
}
