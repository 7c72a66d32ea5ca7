// Receives webhooks, and verifies them with the package standardwebhooks of npm.

import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

import { Webhook } from "standardwebhooks";

const received: { headers: Record<string, string>; body: string }[] = [];
const waiting: (() => void)[] = [];

const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    received.push({ headers: flat(request.headers), body: Buffer.concat(pieces).toString("utf8") });
    response.writeHead(received.length === 1 ? 500 : 204).end();
    waiting.splice(0).forEach((wake) => wake());
});

function flat(headers: IncomingHttpHeaders): Record<string, string> {
    return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

function check(condition: boolean, text: string) {
    if (!condition) throw new Error(text);
}

async function call(method: string, path: string, body?: unknown) {
    const response = await fetch(`${process.env.SERVER_URL}/api/v1${path}`, {
        method,
        body: body === undefined ? undefined : JSON.stringify(body),
        headers: { authorization: `Bearer ${process.env.API_KEY}`, "content-type": "application/json" },
    });
    check(response.ok, `${method} ${path}: ${response.status}`);
    return ((await response.json()) as { data: any }).data;
}

await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
const { port } = server.address() as AddressInfo;
const webhook = await call("POST", "/webhooks", { url: `http://127.0.0.1:${port}/hook` });
await call("POST", "/generations", { modelId: "local/fail", prompt: "p", clientJobId: "node" });
// The first attempt is refused, and repeated.
while (received.length < 2) await new Promise<void>((wake) => waiting.push(wake));
check(received[0].headers["webhook-id"] === received[1].headers["webhook-id"], "another id");
for (const { headers, body } of received) {
    const event = new Webhook(webhook.secret).verify(body, headers) as any;
    check(event.type === "generation.failed" && event.data.clientJobId === "node", body);
    let refused = false;
    try {
        new Webhook(webhook.secret).verify(body.replace("node", "nude"), headers);
    } catch {
        refused = true;
    }
    check(refused, "a changed body is accepted");
}

const renewed = await call("POST", `/webhooks/${webhook.id}/rotate-secret`);
const attempt = await call("POST", `/webhooks/${webhook.id}/test`);
check(attempt.statusCode === 204, JSON.stringify(attempt));
const { headers, body } = received[received.length - 1];
for (const secret of [webhook.secret, renewed.secret]) {
    check((new Webhook(secret).verify(body, headers) as any).type === "webhook.test", body);
}
await call("DELETE", `/webhooks/${webhook.id}`);
server.close();
console.log(`standardwebhooks of npm has verified ${received.length} requests, one of them with two secrets`);
