//! What viewers of JUnit XML ask of a file, by the schemas of Jenkins and Maven.

use promptarium_conformance::report::junit;
use roxmltree::{Document, Node};

use super::kinds;
use crate::prelude::*;

fn elements<'d>(node: Node<'d, 'd>) -> Vec<Node<'d, 'd>> {
    node.children().filter(Node::is_element).collect()
}

fn number(node: Node<'_, '_>, name: &str) -> usize {
    node.attribute(name).unwrap().parse().unwrap()
}

/// Each element only where it may be, in the order it must have, with the
/// attributes it must have, and sums that are right.
fn assert_well_formed(xml: &str) {
    let document = Document::parse(xml).unwrap();
    let suites = document.root_element();
    assert_eq!(suites.tag_name().name(), "testsuites");
    let mut all = [0; 4];
    for suite in elements(suites) {
        assert_eq!(suite.tag_name().name(), "testsuite");
        assert!(!suite.attribute("name").unwrap().is_empty());
        assert!(suite.attribute("timestamp").is_some());
        suite.attribute("time").unwrap().parse::<f64>().unwrap();
        let mut sums = [0; 4];
        for (n, child) in elements(suite).into_iter().enumerate() {
            match child.tag_name().name() {
                "properties" => assert_eq!(n, 0),
                "testcase" => count(child, &mut sums),
                other => panic!("{other}"),
            }
        }
        let told = ["tests", "failures", "errors", "skipped"].map(|name| number(suite, name));
        assert_eq!(told, sums);
        all = std::array::from_fn(|n| all[n] + sums[n]);
    }
    // The schema of Jenkins' xUnit plugin knows no others at the root.
    assert_eq!(["tests", "failures", "errors"].map(|name| number(suites, name)), all[..3]);
    assert!(suites.attribute("skipped").or(suites.attribute("timestamp")).is_none());
}

fn count(case: Node<'_, '_>, sums: &mut [usize; 4]) {
    assert!(!case.attribute("name").unwrap().is_empty());
    assert!(!case.attribute("classname").unwrap().is_empty());
    case.attribute("time").unwrap().parse::<f64>().unwrap();
    sums[0] += 1;
    let order = ["skipped", "error", "failure", "system-out"];
    let mut last = 0;
    for child in elements(case) {
        let name = child.tag_name().name();
        let at = order.iter().position(|one| *one == name).unwrap_or_else(|| panic!("{name}"));
        assert!(at >= last, "{name} comes too late");
        last = at;
        let sum = match name {
            "failure" => 1,
            "error" => 2,
            "skipped" => 3,
            _ => continue,
        };
        sums[sum] += 1;
        assert!(!child.attribute("message").unwrap().is_empty());
        assert!(!child.attribute("type").unwrap().is_empty());
    }
}

fn case<'d>(document: &'d Document<'d>, id: &str) -> Node<'d, 'd> {
    let cases = document.descendants().filter(|node| node.has_tag_name("testcase"));
    cases.into_iter().find(|case| case.attribute("name") == Some(id)).unwrap()
}

#[tokio::test]
async fn every_report_is_well_formed() {
    let mut reports: Vec<Report> = kinds::others().await.into();
    reports.push(kinds::report().await);
    for report in reports {
        assert_well_formed(&junit::render(&report));
    }
}

#[tokio::test]
async fn a_case_is_told_by_its_id_and_says_what_came_of_it() {
    let xml = junit::render(&kinds::report().await);
    let document = Document::parse(&xml).unwrap();
    let below = |id: &str, name: &str| {
        let case = case(&document, id);
        case.children().find(|child| child.has_tag_name(name)).map(|child| {
            let message = child.attribute("message").unwrap_or_default();
            format!("{message}\n{}", child.text().unwrap_or_default())
        })
    };
    assert_eq!(case(&document, "plain.passes.well").attribute("classname"), Some("plain"));
    for name in ["failure", "error", "skipped"] {
        assert_eq!(below("plain.passes.well", name), None);
    }
    let failure = below("plain.fails.badly", "failure").unwrap();
    assert!(failure.starts_with("expected a good answer"), "{failure}");
    assert!(failure.contains("500 Internal"), "{failure}");
    assert!(below("plain.hangs.on", "error").unwrap().contains("an answer to GET"));
    assert!(below("plain.needs.more", "skipped").unwrap().contains("OTHER_API_KEY"));
    let known = below("known.fails.as-listed", "skipped").unwrap();
    assert!(known.contains("known failure: <b>Somebody</b> is on it"), "{known}");
    let passed = below("known.passes.all-the-same", "failure").unwrap();
    assert!(["it passed", "scenario passed"].iter().any(|words| passed.contains(words)));
    let properties = || document.descendants().filter(|node| node.has_tag_name("property"));
    for name in ["target", "seed", "run id"] {
        assert!(properties().any(|node| node.attribute("name") == Some(name)), "{name}");
    }
}

#[tokio::test]
async fn what_xml_forbids_is_shown_in_another_way() {
    let xml = junit::render(&kinds::report().await);
    assert!(xml.contains(r"\u{1b}[31mred \u{0} \u{8} \u{b} \u{202e}turned \u{fffe}"), "{xml}");
}

#[tokio::test]
async fn a_run_that_broke_off_does_not_look_like_a_good_one() {
    let [begun, stopped, passed] = kinds::others().await;
    for report in [begun, stopped] {
        let xml = junit::render(&report);
        let document = Document::parse(&xml).unwrap();
        assert!(case(&document, "run.end").children().any(|child| child.has_tag_name("error")));
    }
    assert!(!junit::render(&passed).contains("run.end"));
}
