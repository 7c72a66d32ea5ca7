//! The calls that manage webhooks: one request each.

use promptarium::testing::{Answer, Script, client};
use promptarium::{WebhookDeliveryId, WebhookEventType, WebhookId};
use serde_json::{Value, json};

fn webhook(secret: Option<&str>) -> Value {
    let mut webhook = json!({
        "id": 5, "url": "https://a.example/hook", "description": null, "enabled": true,
        "events": ["generation.failed"], "failingSince": null,
    });
    if let Some(secret) = secret {
        webhook["secret"] = secret.into();
    }
    webhook
}

#[tokio::test]
async fn each_method_sends_its_request() {
    let script = Script::new();
    let webhooks = client(&script).webhooks();
    let id = WebhookId::new(5);

    script.post("/webhooks").answer(Answer::data(&webhook(Some("whsec_YQ=="))));
    let events = vec![WebhookEventType::GenerationFailed];
    let created = webhooks.create("https://a.example/hook").events(events.clone()).await.unwrap();
    assert_eq!(created.secret.as_ref().unwrap().expose(), "whsec_YQ==");
    assert!(!format!("{created:?}").contains("YQ=="));
    assert_eq!((created.id, &created.events, created.enabled), (id, &events, true));

    script.get("/webhooks").answer(Answer::data(&[webhook(None)]));
    assert_eq!(webhooks.list().await.unwrap()[0].secret, None);
    script.get("/webhooks/5").answer(Answer::data(&webhook(None)));
    webhooks.get(id).await.unwrap();
    script.patch("/webhooks/5").answer(Answer::data(&webhook(None)));
    webhooks.update(id).enabled(true).await.unwrap();
    script.post("/webhooks/5/rotate-secret").answer(Answer::data(&webhook(Some("whsec_Yg=="))));
    assert_eq!(webhooks.rotate_secret(id).await.unwrap().secret.unwrap().expose(), "whsec_Yg==");
    let attempt = json!({ "statusCode": 500, "error": "500", "response": "no", "durationMs": 7 });
    script.post("/webhooks/5/test").answer(Answer::data(&attempt));
    assert_eq!(webhooks.test(id).await.unwrap().status_code, Some(500));
    let delivery = json!({
        "id": "msg_1", "event": "generation.failed", "clientJobId": "job-1", "status": "pending",
        "attempts": 1, "lastAttempt": attempt, "nextAttemptAt": "2026-03-01T11:00:00Z",
        "createdAt": "2026-03-01T11:00:00Z",
    });
    let page = json!({ "data": [delivery], "error": null, "pagination": { "nextCursor": "c" } });
    script.get("/webhooks/5/deliveries").answer(Answer::raw(
        200,
        "application/json",
        page.to_string(),
    ));
    let page = webhooks.deliveries(id, None).await.unwrap();
    let next = page.next_cursor.clone();
    let first = page.into_iter().next().unwrap();
    assert_eq!(first.last_attempt.unwrap().response.as_deref(), Some("no"));
    script.post("/webhooks/5/deliveries/msg_1/retry").answer(Answer::data(&delivery));
    webhooks.retry(id, &WebhookDeliveryId::from("msg_1")).await.unwrap();
    script.delete("/webhooks/5").answer(Answer::data(&json!({ "id": 5, "deleted": true })));
    assert!(webhooks.delete(id).await.unwrap().deleted);

    assert_eq!(next.unwrap().as_str(), "c");
    let bodies: Vec<_> =
        script.requests().iter().map(promptarium::testing::SeenRequest::json).collect();
    let sent: Vec<_> = bodies.into_iter().filter(|body| !body.is_null()).collect();
    let create = json!({ "url": "https://a.example/hook", "events": ["generation.failed"] });
    assert_eq!(sent, [create, json!({ "enabled": true })]);
    script.verify().unwrap();
}
