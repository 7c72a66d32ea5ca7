// Drives the client of @hey-api/openapi-ts.
import assert from "node:assert/strict";
import { client } from "./generated/hey-api/client.gen.js";
import * as api from "./generated/hey-api/index.js";

const key = process.env.API_KEY!;
client.setConfig({ baseUrl: process.env.SERVER_URL!, auth: key });

async function createVault(name: string, visibility?: "public") {
    const { data } = await api.createVault({ body: { name, visibility }, throwOnError: true });
    return data.data;
}
const source = await createVault("Hafen Gang ⚓", "public");
assert.equal(source.name, "Hafen Gang ⚓");
const target = await createVault("Target");
for (let number = 0; number < 5; number++) {
    const body = { title: `t${number}`, prompt: "p", vaultId: source.id };
    assert.equal((await api.createPrompt({ body, throwOnError: true })).data.data.promptType, "text");
}

const pages: string[][] = [];
let cursor: string | null | undefined;
do {
    const query = { limit: 2, vaultId: source.id, cursor: cursor ?? undefined };
    const { data } = await api.listPrompts({ query, throwOnError: true });
    pages.push(data.data.map((prompt) => prompt.title));
    cursor = data.pagination.nextCursor;
} while (cursor);
assert.deepEqual(pages, [["t4", "t3"], ["t2", "t1"], ["t0"]]);

const ofSource = { path: { vaultId: source.id }, throwOnError: true } as const;
const first = (await api.listVaultPrompts(ofSource)).data.data[0];
const path = { vaultId: source.id, vaultPromptId: first.vaultPromptId };
const pinned = (await api.pinVaultPrompt({ path, throwOnError: true })).data;
assert.deepEqual([pinned.data.isPinned, pinned.error], [true, null]);
const moved = await api.moveVaultPrompt({ path, body: { targetVaultId: target.id }, throwOnError: true });
assert.deepEqual([moved.data.data.promptId, moved.data.data.targetVaultId], [first.id, target.id]);
assert.equal((await api.forkVault(ofSource)).data.data.promptCount, 4);

const refused = await api.createPrompt({ body: { title: "", prompt: "p" } });
assert.ok(refused.response?.status === 400 && refused.error?.details.title);
const stranger = await api.getPrompt({ path: { promptId: first.id }, auth: "wrong" });
assert.ok(stranger.response?.status === 401 && stranger.error?.error);
const missing = await api.getPrompt({ path: { promptId: 2 ** 52 } });
assert.ok(missing.response?.status === 404 && missing.error?.error);

const image = new Blob(["twelve bytes"]);
const wanted = { contentType: "image/png", size: image.size } as const;
const slot = (await api.createUploadSlot({ body: wanted, throwOnError: true })).data.data;
const address = new URL(slot.uploadUrl);
const name = address.pathname.split("/").pop()!;
const query = { slot: address.searchParams.get("slot")! };
await api.putUpload({ path: { name }, query, body: image, auth: slot.token, throwOnError: true });
const asset = (await api.getAsset({ path: { name }, throwOnError: true })).data;
assert.equal(await asset.text(), "twelve bytes");

const body = { modelId: "local/plasma", prompt: "sea", vaultId: target.id, parameters: { nested: { a: [null] } } };
const job = (await api.createGeneration({ body, throwOnError: true })).data.data;
const deadline = Date.now() + 60_000;
for (;;) {
    const ofJob = { path: { clientJobId: job.clientJobId }, throwOnError: true } as const;
    const status = (await api.generationStatus(ofJob)).data.data;
    if (status.status === "completed") {
        const output = await api.getPrompt({ path: { promptId: Number(status.promptId) }, throwOnError: true });
        assert.equal(output.data.data.images.length, 1);
        break;
    }
    assert.ok(status.status !== "failed" && Date.now() < deadline);
    await new Promise((resolve) => setTimeout(resolve, 100));
}
