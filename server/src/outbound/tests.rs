//! Against scripted responses on real sockets.

use http::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

const EMPTY: &str = "200 OK\r\ncontent-length: 0\r\n\r\n";

/// Sends these bytes on each connection and keeps it open.
async fn responding(response: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut request = [0; 4096];
                let _ = stream.read(&mut request).await;
                let _ = stream.write_all(format!("HTTP/1.1 {response}").as_bytes()).await;
                let _ = stream.read(&mut request).await;
            });
        }
    });
    format!("http://{address}/")
}

fn any() -> Outbound {
    Outbound::new(false, usize::MAX).unwrap()
}

/// Of at most 10 bytes, within one second.
async fn get(client: &Outbound, url: &str) -> Result<Response<Bytes>, OutboundError> {
    let request = OutboundRequest::new(Method::GET, url.parse().unwrap());
    client.fetch(request, Duration::from_secs(1), 10, None).await.map(|(response, _)| response)
}

#[tokio::test]
async fn a_response_is_read_whole_within_its_limits_and_redirects_are_not_followed() {
    for (response, expected) in [
        ("200 OK\r\ncontent-length: 5\r\n\r\nhello", Ok((200, "hello"))),
        ("302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n", Ok((302, ""))),
        ("200 OK\r\ncontent-length: 11\r\n\r\n01234567890", Err("more than 10 bytes")),
        (
            "200 OK\r\ntransfer-encoding: chunked\r\n\r\n6\r\n012345\r\n6\r\n012345\r\n",
            Err("more than 10 bytes"),
        ),
        ("200 OK\r\ncontent-length: 10\r\n\r\n01234", Err("no response within 1 s")),
    ] {
        match (get(&any(), &responding(response).await).await, expected) {
            (Ok(response), Ok((status, body))) => {
                assert_eq!(
                    (response.status().as_u16(), &**response.body()),
                    (status, body.as_bytes())
                );
            }
            (Err(OutboundError::Failed(error)), Err(text)) => {
                assert!(error.contains(text), "{error}");
            }
            (outcome, _) => panic!("{response}: {outcome:?}"),
        }
    }
}

#[tokio::test]
async fn an_error_says_whether_anything_was_sent_and_hides_the_url() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let refused = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let no_tls = responding(EMPTY).await.replace("http:", "https:");
    let broken = responding("nonsense\r\n\r\n").await;
    for (url, nothing_was_sent) in [(refused, true), (no_tls, true), (broken, false)] {
        let error = get(&any(), &format!("{url}s3cret?s3cret")).await.unwrap_err();
        assert_eq!(matches!(error, OutboundError::NotSent(_)), nothing_was_sent, "{error:?}");
        assert!(matches!(error, OutboundError::NotSent(_) | OutboundError::Failed(_)));
        let text = format!("{error} {error:?}");
        assert!(text.contains("127.0.0.1") && !text.contains("s3cret"), "{text}");
    }
}

#[tokio::test]
async fn only_http_urls_are_requested_and_private_addresses_only_if_the_policy_allows_them() {
    let url = responding(EMPTY).await;
    let port = url.trim_end_matches('/').rsplit(':').next().unwrap().to_owned();
    let any = any();
    get(&any, &url).await.unwrap();
    let public = Outbound::new(true, usize::MAX).unwrap();
    for host in
        ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433", "0x7f.1"]
    {
        let error = get(&public, &format!("http://{host}:{port}/")).await.unwrap_err();
        assert!(matches!(error, OutboundError::Address(_)), "{host}: {error:?}");
        assert!(error.to_string().ends_with(" is not a public address"), "{error}");
    }
    for url in ["ftp://example.org/", "file:///etc/passwd", "data:text/plain,a"] {
        let error = get(&any, url).await.unwrap_err();
        assert!(matches!(error, OutboundError::Address(_)), "{url}: {error:?}");
    }
}

const PUBLIC: &str = "1.1.1.1 100.63.255.255 100.128.0.0 172.15.0.1 172.32.0.1 192.0.1.1 198.20.0.1 \
     223.255.255.255 2606:4700:4700::1111 2001:200::1 ::ffff:8.8.8.8 64:ff9b::808:808 \
     2002:808:808::1";
const NOT_PUBLIC: &str = "0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1 \
     172.31.255.255 192.0.0.1 192.0.2.1 192.168.1.1 198.19.0.1 198.51.100.1 203.0.113.1 \
     224.0.0.1 240.0.0.1 255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 \
     ::127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::808:808 2001::1 2001:db8::1 2002:7f00:1:: \
     2002:a00:1::1 3fff::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1";

#[test]
fn special_purpose_addresses_are_not_public() {
    for (addresses, public) in [(PUBLIC, true), (NOT_PUBLIC, false)] {
        for address in addresses.split_whitespace() {
            assert_eq!(is_public(address.parse().unwrap()), public, "{address}");
        }
    }
}

#[tokio::test]
async fn a_client_without_idle_connections_reuses_none() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let client = Outbound::new(false, 0).unwrap();
    let mut open = Vec::new();
    for _ in 0..2 {
        let (response, ()) = tokio::join!(get(&client, &url), async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.read(&mut [0; 4096]).await;
            stream.write_all(format!("HTTP/1.1 {EMPTY}").as_bytes()).await.unwrap();
            open.push(stream);
        });
        response.unwrap();
    }
}
