//! The SDK's paths and the server's routes are the same.

use std::collections::BTreeSet;

use promptarium_server::test_support::{BASE_PATH, route_table};

#[test]
fn every_route_has_a_template_of_the_sdk_and_every_template_a_route() {
    let routes = route_table().into_iter().filter(|route| route.base == BASE_PATH);
    let routes: BTreeSet<_> = routes.map(|route| route.path).collect();
    let templates = include_str!("../../../sdk/src/path.rs").lines();
    let templates = templates.filter(|line| line.starts_with("    "));
    let texts = templates.filter_map(|line| line.split_once(" = \"")?.1.split('"').next());
    assert_eq!(routes, texts.filter(|text| text.starts_with('/')).collect());
}
