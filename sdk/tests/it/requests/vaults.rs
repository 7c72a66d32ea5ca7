//! Requests about vaults and their contents.

use insta::assert_snapshot;
use promptarium::{Client, PromptId, VaultId, Visibility};

use super::{MEMBERSHIP, PROMPT, VAULT, body};
use crate::stub::wire;

#[tokio::test]
async fn vaults_list() {
    assert_snapshot!(wire(|client| client.vaults().list()).await, @"
    GET /api/v1/vaults
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    ");
}

#[tokio::test]
async fn vaults_create() {
    assert_snapshot!(wire(|client| client.vaults().create("Harbours")).await, @r#"
    POST /api/v1/vaults
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    content-type: application/json
    content-length: 19
    {"name":"Harbours"}
    "#);
    let most = |client: &Client| {
        let call = client.vaults().create("Harbours").description("Boats");
        call.visibility(Visibility::Unlisted)
    };
    assert_snapshot!(body(&wire(most).await), @r#"{"name":"Harbours","description":"Boats","visibility":"unlisted"}"#);
}

#[tokio::test]
async fn vaults_get() {
    assert_snapshot!(wire(|client| client.vaults().get(VAULT)).await, @"
    GET /api/v1/vaults/3
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    ");
}

#[tokio::test]
async fn vaults_update() {
    let most = |client: &Client| {
        let call = client.vaults().update(VAULT).name("Ports").description("Cranes");
        call.visibility(Visibility::Public)
    };
    assert_snapshot!(wire(most).await, @r#"
    PATCH /api/v1/vaults/3
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    content-type: application/json
    content-length: 61
    {"name":"Ports","description":"Cranes","visibility":"public"}
    "#);
    assert_snapshot!(body(&wire(|client| client.vaults().update(VAULT)).await), @"{}");
    let cleared = |client: &Client| client.vaults().update(VAULT).clear_description();
    assert_snapshot!(body(&wire(cleared).await), @r#"{"description":null}"#);
}

#[tokio::test]
async fn vaults_delete() {
    assert_snapshot!(wire(|client| client.vaults().delete(VAULT)).await, @"
    DELETE /api/v1/vaults/3
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    ");
}

#[tokio::test]
async fn vaults_fork() {
    assert_snapshot!(wire(|client| client.vaults().fork(VAULT)).await, @"
    POST /api/v1/vaults/3/fork
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    content-length: 0
    ");
}

#[tokio::test]
async fn contents_list() {
    assert_snapshot!(wire(|client| client.vault(VAULT).list()).await, @"
    GET /api/v1/vaults/3/prompts
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    ");
}

#[tokio::test]
async fn contents_add() {
    let add = |client: &Client| client.vault(VAULT).add([PROMPT, PromptId::new(8)]);
    assert_snapshot!(wire(add).await, @r#"
    POST /api/v1/vaults/3/prompts
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    content-type: application/json
    content-length: 19
    {"promptIds":[7,8]}
    "#);
}

#[tokio::test]
async fn contents_remove() {
    assert_snapshot!(wire(|client| client.vault(VAULT).remove(MEMBERSHIP)).await, @"
    DELETE /api/v1/vaults/3/prompts/21
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    ");
}

#[tokio::test]
async fn contents_move() {
    let to = |client: &Client| client.vault(VAULT).move_to(MEMBERSHIP, VaultId::new(4));
    assert_snapshot!(wire(to).await, @r#"
    POST /api/v1/vaults/3/prompts/21/move
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    content-type: application/json
    content-length: 19
    {"targetVaultId":4}
    "#);
}

#[tokio::test]
async fn contents_pin_and_unpin() {
    assert_snapshot!(wire(|client| client.vault(VAULT).pin(MEMBERSHIP)).await, @"
    POST /api/v1/vaults/3/prompts/21/pin
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    content-length: 0
    ");
    assert_snapshot!(wire(|client| client.vault(VAULT).unpin(MEMBERSHIP)).await, @"
    DELETE /api/v1/vaults/3/prompts/21/pin
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    ");
}
