//! The trace context of a request.

use crate::support::browser::request;
use crate::support::client::Connection;
use crate::support::program::Running;

#[tokio::test]
async fn the_log_line_and_the_response_name_the_trace_of_a_request() {
    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    let mut server = Running::start(&["--log-format", "json"]).await;
    let mut connection = Connection::to(&server).await;
    let header = format!("traceparent: 00-{TRACE}-00f067aa0ba902b7-01\r\n");
    let response = connection.ask(request("GET", "/healthz", &header, "")).await;
    let event = server.event("answered").await;
    assert_eq!(event["trace_id"], TRACE, "{event}");
    let span = event["span_id"].as_str().unwrap();
    let expected = format!("00-{TRACE}-{span}-01");
    assert_eq!(response.header("traceresponse"), Some(&*expected));

    for header in ["", "traceparent: 00-0-0-0\r\n", "traceparent: \"\\\r\n"] {
        let response = connection.ask(request("GET", "/healthz", header, "")).await;
        assert_eq!((response.status, response.header("traceresponse")), (200, None), "{header}");
        let event = server.event("answered").await;
        assert!(event.get("trace_id").is_none(), "{event}");
    }
}
