//! What each answer of the provider means: one table, with the source of each row. A provider with
//! another protocol gets a table like it.

use super::*;

/// `@fal-ai/client` 1.10.1 of npm: `queue.js`, `retry.js`, `types/common.d.ts`.
const JS: &str = "JavaScript client";
/// The types of the models in the same package: `types/endpoints.d.ts`.
const TYPES: &str = "JavaScript client, types";
/// `fal-client` 1.0.3 of PyPI: `client.py`.
const PYTHON: &str = "Python client";
/// <https://fal.ai/docs>: the queue API and its errors.
const DOCS: &str = "documentation of fal.ai";
/// The meaning of a status in HTTP (RFC 9110), and of a text that has no other.
const HTTP: &str = "HTTP";

/// Where the row is from, what is asked, the answer, and what comes of it.
type Row = (&'static str, &'static str, ResponseTemplate, &'static str);

fn text(status: u16, text: &str) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_string(text)
}

fn submissions() -> Vec<Row> {
    let detail = || json!({"detail": [{"loc": ["body"], "msg": format!("no, {KEY}")}]});
    let mut rows = Vec::new();
    for (source, statuses, outcome) in [
        (JS, &[200_u16][..], "not known"),
        (HTTP, &[301, 307, 308, 400, 404, 409, 422], "final: no, … (status "),
        (DOCS, &[401, 402, 403], "service refused: no, … (status "),
        // Both clients send it again, which could be paid twice. Here its caller decides.
        (JS, &[429, 503], "busy"),
        (HTTP, &[302, 303, 408, 500, 502, 504], "not known"),
    ] {
        rows.extend(
            statuses.iter().map(|code| (source, "submission", reply(*code, detail()), outcome)),
        );
    }
    let unusable = [
        zeros(),
        text(200, "<h1>Hello</h1>"),
        reply(200, json!([])),
        reply(200, json!({"request_id": 7, "status_url": 8, "response_url": 9})),
        reply(200, json!({"request_id": "r".repeat(257)})),
    ];
    rows.extend(unusable.map(|reply| (HTTP, "submission", reply, "not known")));
    rows
}

fn statuses() -> Vec<Row> {
    let is = |status: &str, error: Value| json!({"status": status, "logs": null, "error": error});
    let deep = "[".repeat(200) + &"]".repeat(200);
    let mut rows = vec![
        (JS, reply(200, json!({"status": "IN_QUEUE", "queue_position": 0})), "queued"),
        (DOCS, reply(202, json!({"status": "IN_QUEUE", "queue_position": 0})), "queued"),
        (DOCS, reply(202, is("IN_PROGRESS", Value::Null)), "not yet"),
        // Applications of an earlier kind give no metrics.
        (PYTHON, reply(200, is("COMPLETED", Value::Null)), "completed: 2"),
        (PYTHON, reply(200, is("COMPLETED", json!("out of memory"))), "final: out of memory"),
        (HTTP, reply(200, is("COMPLETED", json!({"message": "no"}))), "final: no"),
        (HTTP, reply(200, is("FAILED", json!("out of memory"))), "final: out of memory"),
        (
            HTTP,
            reply(200, is("FAILED", Value::Null)),
            "final: its status at the provider is FAILED",
        ),
        (
            HTTP,
            reply(200, is("expired", Value::Null)),
            "final: its status at the provider is EXPIRED",
        ),
        (HTTP, reply(200, json!({"status": "FAILED", "detail": "no\u{1b}[1m"})), "final: no [1m"),
        (HTTP, reply(200, is("CANCELED", Value::Null)), "final: the provider cancelled it"),
        (HTTP, reply(200, is("CANCELLED", json!("by its owner"))), "final: by its owner"),
        // The JavaScript client goes on to poll.
        (JS, reply(200, is("DREAMING", Value::Null)), "again"),
        (HTTP, reply(200, json!({"state": "COMPLETED"})), "again"),
        // Both clients read these.
        (JS, reply(200, json!({"status": "completed"})), "completed: 2"),
        (PYTHON, text(200, "\u{feff}{\"status\": \"COMPLETED\"}"), "completed: 2"),
        (
            JS,
            text(200, &format!("{{\"status\": \"COMPLETED\", \"logs\": {deep}}}")),
            "completed: 2",
        ),
        (HTTP, text(200, "<h1>Hello</h1>"), "again"),
        (HTTP, zeros(), "again"),
        (PYTHON, reply(409, json!({"detail": "x"})), "doubtful: x (status 409)"),
        // Just after the submission another replica of the provider may not know it.
        (HTTP, reply(404, json!({"detail": "none"})), "doubtful: none (status 404)"),
        (HTTP, text(410, "Gone"), "final: the provider answered with status 410"),
        (HTTP, text(422, ""), "final: the provider answered with status 422"),
    ];
    for (source, codes, outcome) in [
        (DOCS, &[401_u16, 402, 403][..], "service refused: x (status "),
        (PYTHON, &[408, 429], "again"),
        (JS, &[429, 500, 502, 503, 504], "again"),
        (HTTP, &[302, 425, 501], "again"),
    ] {
        rows.extend(
            codes.iter().map(|code| (source, reply(*code, json!({"detail": "x"})), outcome)),
        );
    }
    let of_model = reply(500, json!({"detail": "x"})).insert_header("x-fal-request-id", "r-1");
    rows.push((JS, of_model, "again"));
    rows.into_iter().map(|(source, reply, outcome)| (source, "status", reply, outcome)).collect()
}

fn results() -> Vec<Row> {
    let failed = |code| reply(code, json!({"detail": "out of memory"}));
    let image = |url: &str| json!({"images": [{"url": url}]});
    let detail = json!([{"loc": ["body", "prompt"], "msg": "not allowed", "type": "x"}]);
    let of_model = "final: out of memory (status 500)";
    let data = "data:image/png;base64,AAAA";
    let cut = [br#"{"prompt": ""#, &[0xf0, 0x9f][..], br#"", "image": ""#, data.as_bytes(), b"\"}"];
    let cut = cut.concat();
    let no_image = "final: the provider's result has no image that can be read";
    let no_address = "final: an output: no http or https address";
    let no_data = "final: an output in a data: address cannot be read";
    let filtered = "final: the provider's safety filter replaced the output";
    let rows = [
        // Reads that lag behind the status.
        (DOCS, reply(202, json!({"status": "IN_PROGRESS"})), "not yet"),
        (DOCS, reply(400, json!({"detail": "Request is still in progress"})), "not yet"),
        (HTTP, reply(400, json!({"detail": "Request is still In Progress"})), "not yet"),
        (HTTP, reply(200, json!({"status": "IN_PROGRESS"})), "not yet"),
        (HTTP, reply(404, json!({"detail": "none"})), "doubtful: none (status 404)"),
        (PYTHON, failed(409), "doubtful: out of memory (status 409)"),
        (DOCS, failed(403), "service refused: out of memory (status 403)"),
        (PYTHON, failed(408), "again"),
        (JS, failed(429), "again"),
        // The error of a proxy, and those of the model itself.
        (PYTHON, failed(500), "again"),
        (PYTHON, failed(502), "again"),
        (PYTHON, failed(500).insert_header("x-fal-request-id", "r-1"), of_model),
        (PYTHON, failed(500).insert_header("x-fal-error-type", "runner_server_error"), of_model),
        (PYTHON, reply(500, json!({"detail": "out of memory", "error_type": "x"})), of_model),
        (JS, reply(422, json!({"detail": detail})), "final: not allowed (status 422)"),
        (JS, reply(422, json!({"detail": "not allowed"})), "final: not allowed (status 422)"),
        (HTTP, failed(400), "final: out of memory (status 400)"),
        (HTTP, reply(200, json!([])), "again"),
        (HTTP, reply(200, json!({"error": format!("boom {KEY}")})), "final: boom …"),
        // Texts that a provider has cut, and numbers that are too large.
        (JS, text(200, &format!(r#"{{"image": "{data}", "prompt": "\ud83d"}}"#)), "completed: 1"),
        (JS, text(200, &format!(r#"{{"image": "{data}", "seed": 1e999}}"#)), "completed: 1"),
        (JS, ResponseTemplate::new(200).set_body_bytes(cut), "completed: 1"),
        // Pictures count more than texts beside them.
        (HTTP, reply(200, json!({"image": data, "error": "one is missing"})), "completed: 1"),
        (HTTP, reply(200, json!({"output": "a text", "error": "boom"})), "final: boom"),
        (HTTP, reply(200, json!({})), no_image),
        (HTTP, reply(200, json!({"images": []})), no_image),
        (HTTP, reply(200, json!({"images": [1]})), no_image),
        (HTTP, reply(200, json!({"video": {"url": "x"}})), no_image),
        (HTTP, reply(200, image("1.png")), no_address),
        (HTTP, reply(200, image("file:///etc/passwd")), no_address),
        (HTTP, reply(200, image("data:image/png;base64,!!")), no_data),
        (HTTP, reply(200, image("data:image/png;base64")), no_data),
        // What a safety checker has replaced is a black picture.
        (TYPES, reply(200, json!({"image": data, "has_nsfw_concepts": true})), filtered),
        (TYPES, reply(200, json!({"images": [data], "has_nsfw_concepts": [true]})), filtered),
        (TYPES, reply(200, json!({"image": data, "has_nsfw_concepts": [true]})), filtered),
        (TYPES, reply(200, json!({"images": [data], "nsfw_content_detected": [true]})), filtered),
        (TYPES, reply(200, json!({"image": data, "has_nsfw_concepts": [false]})), "completed: 1"),
        (TYPES, reply(200, json!({"image": data, "has_nsfw_concepts": null})), "completed: 1"),
    ];
    rows.into_iter().map(|(source, reply, outcome)| (source, "result", reply, outcome)).collect()
}

fn outputs() -> Vec<Row> {
    let mut rows = vec![(HTTP, "output", zeros(), "final: an output is larger than 1 MiB")];
    // Files of fal.ai expire, are deleted, or are signed for some time.
    for (codes, outcome) in [
        (
            &[300_u16, 302, 304, 400, 401, 403, 404, 410][..],
            "doubtful: an output cannot be fetched: status ",
        ),
        (&[408, 425, 429, 500, 502, 503], "again"),
    ] {
        rows.extend(codes.iter().map(|code| (HTTP, "output", text(*code, ""), outcome)));
    }
    rows
}

/// What comes of a request to this provider.
async fn outcome(provider: &MockServer) -> String {
    let setting = QueueSetting { output_max_mib: 1, ..setting(&provider.uri()) };
    let client = QueueProvider::new(setting).unwrap();
    let ticket = match client.submit(&request()).await {
        Ok(ticket) => ticket,
        Err(SubmitError::Refused(reason)) => return format!("final: {reason}"),
        Err(SubmitError::NotAuthorized(reason)) => return format!("service refused: {reason}"),
        Err(SubmitError::Busy(..)) => return "busy".to_owned(),
        Err(SubmitError::Unknown(_)) => return "not known".to_owned(),
        Err(error @ SubmitError::Unavailable(_)) => panic!("{error:?}"),
    };
    let loaded = match client.poll(&ticket, &request()).await {
        Ok(Progress::Queued) => return "queued".to_owned(),
        Ok(Progress::InProgress) => return "not yet".to_owned(),
        Ok(Progress::Completed { outputs, .. }) => {
            let outputs = outputs.into_iter().map(|output| output.bytes.try_collect::<Vec<_>>());
            futures::future::try_join_all(outputs).await
        }
        Err(error) => Err(error),
    };
    match loaded {
        Ok(outputs) => format!("completed: {}", outputs.len()),
        Err(PollError::Transient { .. }) => "again".to_owned(),
        Err(PollError::Doubtful(reason)) => format!("doubtful: {reason}"),
        Err(PollError::NotAuthorized(reason)) => format!("service refused: {reason}"),
        Err(PollError::Permanent(reason)) => format!("final: {reason}"),
    }
}

#[tokio::test]
async fn each_answer_has_one_meaning() {
    let rows = [submissions(), statuses(), results(), outputs()].concat();
    for (source, part, reply, expected) in rows {
        let provider = start(part, reply.clone()).await;
        let outcome = outcome(&provider).await;
        // A status at the end of a reason is that of the row.
        let is_it = match expected.strip_suffix("status ") {
            Some(_) => outcome.starts_with(expected),
            None => outcome == expected,
        };
        assert!(is_it, "{source}: {part} {reply:?}: {outcome}");
        assert!(!outcome.contains("the-provider-key"), "{outcome}");
        let sent = received(&provider).await;
        let is_repeated = sent.windows(2).any(|two| two[0].url == two[1].url);
        assert!(!is_repeated, "{reply:?}: one attempt a poll");
    }
}
