// The npm package `@modelcontextprotocol/sdk` as a client of `promptarium mcp --http`.
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const client = new Client({ name: 'stranger', version: '1' });
await client.connect(new StreamableHTTPClientTransport(new URL(process.env.MCP_URL ?? '')));
console.log('server', client.getServerVersion()?.name);

const names: string[] = [];
let cursor: string | undefined;
do {
    const page = await client.listPrompts({ cursor });
    names.push(...page.prompts.map((prompt) => prompt.name));
    cursor = page.nextCursor;
} while (cursor);
assert.equal(new Set(names).size, 10_002);

async function text(name: string, args: Record<string, string>): Promise<string> {
    const { content } = (await client.getPrompt({ name, arguments: args })).messages[0];
    assert(content.type === 'text');
    return content.text;
}
assert.equal((await text('library', { title: 'Long' })).length, 15_000);
assert.equal(await text('library', { title: 'Greeting' }), 'Hello {{name}}, in Polish');

const ref = { type: 'ref/prompt' as const, name: 'library' };
const completed = await client.complete({ ref, argument: { name: 'title', value: 'gree' } });
assert.deepEqual(completed.completion.values, ['Greeting']);

const { tools } = await client.listTools();
assert(tools.find((tool) => tool.name === 'search_prompts')?.annotations?.readOnlyHint);
const found = await client.callTool({ name: 'search_prompts', arguments: { query: 'number 777', limit: 5 } });
assert.equal((found.structuredContent as { prompts: unknown[] }).prompts.length, 5);
const refused = await client.callTool({ name: 'save_prompt', arguments: { title: '', text: 'x' } });
assert(refused.isError);

let steps = 0;
const picture = await client.callTool(
    { name: 'generate_image', arguments: { model: 'local/plasma', text: 'A harbour' } },
    undefined,
    { onprogress: () => { steps += 1; } },
);
assert.equal((picture.content as { mimeType?: string }[]).at(-1)?.mimeType, 'image/png');
assert(steps > 0, 'no progress');

const slow = { name: 'generate_image', arguments: { model: 'local/slow', text: `Cancelled ${Date.now()}` } };
await assert.rejects(client.callTool(slow, undefined, { signal: AbortSignal.timeout(500) }));

for (const wrong of [
    () => client.listPrompts({ cursor: 'nonsense' }),
    () => client.getPrompt({ name: 'nothing-999999' }),
    () => client.callTool({ name: 'nothing' }),
    () => client.readResource({ uri: 'http://127.0.0.1:9/x' }),
]) {
    await assert.rejects(wrong(), (error: Error) => {
        console.log('refused:', error.message.split('\n')[0]);
        return true;
    });
}
await client.ping();
console.log('passed:', names.length - 1, 'prompts listed');
await client.close();
