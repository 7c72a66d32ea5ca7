// Drives the types of openapi-typescript with openapi-fetch.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { paths } from "./generated/openapi-typescript.js";

const baseUrl = process.env.SERVER_URL!;
const authorized = (key: string) => createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
const client = authorized(process.env.API_KEY!);

async function createVault(name: string, visibility?: "public") {
    const { data, error } = await client.POST("/api/v1/vaults", { body: { name, visibility } });
    assert.ok(data, String(error?.error));
    return data.data;
}
const source = await createVault("Hafen Gang ⚓", "public");
assert.equal(source.name, "Hafen Gang ⚓");
const target = await createVault("Target");
for (let number = 0; number < 5; number++) {
    const body = { title: `t${number}`, prompt: "p", vaultId: source.id };
    const { data } = await client.POST("/api/v1/prompts", { body });
    assert.equal(data?.data.promptType, "text");
}

const pages: string[][] = [];
let cursor: string | null | undefined;
do {
    const query = { limit: 2, vaultId: source.id, cursor: cursor ?? undefined };
    const { data } = await client.GET("/api/v1/prompts", { params: { query } });
    assert.ok(data);
    pages.push(data.data.map((prompt) => prompt.title));
    cursor = data.pagination.nextCursor;
} while (cursor);
assert.deepEqual(pages, [["t4", "t3"], ["t2", "t1"], ["t0"]]);

const ofSource = { path: { vaultId: source.id } };
const listed = await client.GET("/api/v1/vaults/{vaultId}/prompts", { params: ofSource });
const first = listed.data!.data[0];
const params = { path: { vaultId: source.id, vaultPromptId: first.vaultPromptId } };
const pinned = await client.POST("/api/v1/vaults/{vaultId}/prompts/{vaultPromptId}/pin", { params });
assert.deepEqual([pinned.data?.data.isPinned, pinned.data?.error], [true, null]);
const body = { targetVaultId: target.id };
const moved = await client.POST("/api/v1/vaults/{vaultId}/prompts/{vaultPromptId}/move", { params, body });
assert.deepEqual([moved.data?.data.promptId, moved.data?.data.targetVaultId], [first.id, target.id]);
const forked = await client.POST("/api/v1/vaults/{vaultId}/fork", { params: ofSource });
assert.equal(forked.data?.data.promptCount, 4);

const refused = await client.POST("/api/v1/prompts", { body: { title: "", prompt: "p" } });
assert.equal(refused.response.status, 400);
const details: Record<string, string> | undefined = refused.error?.details;
assert.ok(details?.title, JSON.stringify(refused.error));
const ofFirst = { params: { path: { promptId: first.id } } };
const stranger = await authorized("wrong").GET("/api/v1/prompts/{promptId}", ofFirst);
assert.ok(stranger.response.status === 401 && stranger.error?.error);
const missing = await client.GET("/api/v1/prompts/{promptId}", { params: { path: { promptId: 2 ** 52 } } });
assert.ok(missing.response.status === 404 && missing.error?.error);

const image = new Blob(["twelve bytes"]);
const wanted = { contentType: "image/png" as const, size: image.size };
const slot = (await client.POST("/api/v1/uploads/images", { body: wanted })).data!.data;
const address = new URL(slot.uploadUrl);
const name = address.pathname.split("/").pop()!;
const stored = await authorized(slot.token).PUT("/storage/{name}", {
    params: { path: { name }, query: { slot: address.searchParams.get("slot")! } },
    headers: { "Content-Type": "application/octet-stream" },
    body: image as unknown as string,
    bodySerializer: (bytes) => bytes,
});
assert.equal(stored.response.status, 200);
const asset = { params: { path: { name } }, parseAs: "text" as const };
assert.equal((await createClient<paths>({ baseUrl }).GET("/assets/{name}", asset)).data, "twelve bytes");

const generation = { modelId: "local/plasma", prompt: "sea", vaultId: target.id, parameters: { nested: { a: [null] } } };
const job = (await client.POST("/api/v1/generations", { body: generation })).data!.data;
const deadline = Date.now() + 60_000;
const ofJob = { params: { path: { clientJobId: job.clientJobId } } };
for (;;) {
    const { data } = await client.GET("/api/v1/generations/{clientJobId}/status", ofJob);
    if (data?.data.status === "completed") {
        const ofOutput = { params: { path: { promptId: data.data.promptId! } } };
        assert.equal((await client.GET("/api/v1/prompts/{promptId}", ofOutput)).data?.data.images.length, 1);
        break;
    }
    assert.ok(data && data.data.status !== "failed" && Date.now() < deadline);
    await new Promise((resolve) => setTimeout(resolve, 100));
}
