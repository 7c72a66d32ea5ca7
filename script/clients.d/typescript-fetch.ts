// Drives the TypeScript client of openapi-generator.
import assert from "node:assert/strict";
import * as api from "./generated/typescript-fetch/index.js";

const basePath = process.env.SERVER_URL!;
const as = (accessToken?: string) => new api.Configuration({ basePath, accessToken });
const mine = as(process.env.API_KEY!);
const [prompts, vaults, contents] = [new api.PromptsApi(mine), new api.VaultsApi(mine), new api.VaultContentsApi(mine)];

const create = async (name: string, visibility?: api.Visibility) =>
    (await vaults.createVault({ createVaultRequest: { name, visibility } })).data;
const source = await create("Hafen Gang ⚓", "public");
assert.equal(source.name, "Hafen Gang ⚓");
const target = await create("Target");
for (let number = 0; number < 5; number++) {
    const createPromptRequest = { title: `t${number}`, prompt: "p", vaultId: source.id };
    assert.equal((await prompts.createPrompt({ createPromptRequest })).data.promptType, "text");
}

const pages: string[][] = [];
let cursor: string | null | undefined;
do {
    const page = await prompts.listPrompts({ limit: 2, vaultId: source.id, cursor: cursor ?? undefined });
    pages.push(page.data.map((prompt) => prompt.title));
    cursor = page.pagination.nextCursor;
} while (cursor);
assert.deepEqual(pages, [["t4", "t3"], ["t2", "t1"], ["t0"]]);

const first = (await contents.listVaultPrompts({ vaultId: source.id })).data[0];
const place = { vaultId: source.id, vaultPromptId: first.vaultPromptId };
const pinned = await contents.pinVaultPrompt(place);
assert.deepEqual([pinned.data.isPinned, pinned.error], [true, null]);
const moved = await contents.moveVaultPrompt({ ...place, moveVaultPromptRequest: { targetVaultId: target.id } });
assert.deepEqual([moved.data.promptId, moved.data.targetVaultId], [first.id, target.id]);
assert.equal((await vaults.forkVault({ vaultId: source.id })).data.promptCount, 4);

async function refused(status: number, call: Promise<unknown>) {
    const error = await call.then(() => undefined, (error) => error);
    assert.ok(error instanceof api.ResponseError && error.response.status === status, String(error));
    return api.ValidationErrorResponseFromJSON(await error.response.json());
}
const invalid = { createPromptRequest: { title: "", prompt: "p" } };
assert.ok((await refused(400, prompts.createPrompt(invalid))).details.title);
assert.ok((await refused(401, new api.PromptsApi(as("wrong")).getPrompt({ promptId: first.id }))).error);
assert.ok((await refused(404, prompts.getPrompt({ promptId: 2 ** 52 }))).error);

const body = new Blob(["twelve bytes"]);
const createUploadSlotRequest = { contentType: api.ImageType.ImagePng, size: body.size };
const slot = (await new api.UploadsApi(mine).createUploadSlot({ createUploadSlotRequest })).data;
const address = new URL(slot.uploadUrl);
const name = address.pathname.split("/").pop()!;
await new api.UploadsApi(as(slot.token)).putUpload({ name, slot: address.searchParams.get("slot")!, body });
assert.equal(await (await new api.AssetsApi(as()).getAsset({ name })).text(), "twelve bytes");

const generations = new api.GenerationsApi(mine);
const createGenerationRequest =
    { modelId: "local/plasma", prompt: "sea", vaultId: target.id, parameters: { nested: { a: [null] } } };
const { clientJobId } = (await generations.createGeneration({ createGenerationRequest })).data;
const deadline = Date.now() + 60_000;
for (;;) {
    const { status, promptId } = (await generations.generationStatus({ clientJobId })).data;
    if (status === "completed") {
        assert.equal((await prompts.getPrompt({ promptId: promptId! })).data.images.length, 1);
        break;
    }
    assert.ok(status !== "failed" && Date.now() < deadline);
    await new Promise((resolve) => setTimeout(resolve, 100));
}
