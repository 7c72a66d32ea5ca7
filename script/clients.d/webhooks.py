"""Receives webhooks, and verifies them with the package standardwebhooks of PyPI."""

import json
import os
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

received, arrived = [], threading.Semaphore(0)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        received.append(({name.lower(): value for name, value in self.headers.items()}, body))
        self.send_response(500 if len(received) == 1 else 204)
        self.end_headers()
        arrived.release()

    def log_message(self, *_):
        pass


def call(method, path, body=None):
    request = urllib.request.Request(
        os.environ["SERVER_URL"] + "/api/v1" + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"authorization": "Bearer " + os.environ["API_KEY"], "content-type": "application/json"},
    )
    return json.load(urllib.request.urlopen(request))["data"]


server = HTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
webhook = call("POST", "/webhooks", {"url": f"http://127.0.0.1:{server.server_port}/hook"})
call("POST", "/generations", {"modelId": "local/fail", "prompt": "p", "clientJobId": "python"})
# The first attempt is refused, and repeated.
for _ in range(2):
    assert arrived.acquire(timeout=60), "no delivery"
assert received[0][0]["webhook-id"] == received[1][0]["webhook-id"]
for headers, body in received:
    event = Webhook(webhook["secret"]).verify(body, headers)
    assert (event["type"], event["data"]["clientJobId"]) == ("generation.failed", "python"), event
    try:
        Webhook(webhook["secret"]).verify(body.replace(b"python", b"pythom"), headers)
        raise AssertionError("a changed body is accepted")
    except WebhookVerificationError:
        pass

renewed = call("POST", f"/webhooks/{webhook['id']}/rotate-secret")
attempt = call("POST", f"/webhooks/{webhook['id']}/test")
assert attempt["statusCode"] == 204, attempt
headers, body = received[-1]
for secret in (webhook["secret"], renewed["secret"]):
    assert Webhook(secret).verify(body, headers)["type"] == "webhook.test"
call("DELETE", f"/webhooks/{webhook['id']}")
print(f"standardwebhooks of PyPI has verified {len(received)} requests, one of them with two secrets")
