"""The Python package `mcp` as a client of `promptarium mcp` on standard input and output."""

import os

import anyio
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import PromptReference

SERVER = StdioServerParameters(command=os.environ["PROMPTARIUM"], args=["mcp", "--vault", "Bulk", "--write"], env=dict(os.environ))


async def main():
    async with Client(SERVER) as client:
        print("protocol", client.protocol_version, "server", client.server_info.name)

        names, cursor = [], None
        while True:
            page = await client.list_prompts(cursor=cursor)
            names += [prompt.name for prompt in page.prompts]
            cursor = page.next_cursor
            if not cursor:
                break
        assert len(set(names)) == 10_002, len(names)

        async def text(name, **arguments):
            got = await client.get_prompt(name, arguments)
            return got.messages[0].content.text

        assert len(await text("library", title="Long")) == 15_000
        assert await text("library", title="Greeting") == "Hello {{name}}, in Polish"
        assert await text(next(name for name in names if name.startswith("number-777-"))) == "Number 777"

        found = await client.complete(PromptReference(type="ref/prompt", name="library"), {"name": "title", "value": "gree"})
        assert found.completion.values == ["Greeting"], found

        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools["search_prompts"].annotations.read_only_hint and not tools["save_prompt"].annotations.read_only_hint
        found = await client.call_tool("search_prompts", {"query": "number 777", "limit": 5})
        assert len(found.structured_content["prompts"]) == 5, found
        refused = await client.call_tool("save_prompt", {"title": "", "text": "x"})
        assert refused.is_error and "1 to 120" in refused.content[0].text, refused
        picture = await client.call_tool("generate_image", {"model": "local/plasma", "text": "A harbour"})
        assert picture.content[-1].mime_type == "image/png", picture

        with anyio.move_on_after(0.5) as scope:
            await client.call_tool("generate_image", {"model": "local/slow", "text": f"Cancelled {os.getpid()}"})
        assert scope.cancelled_caught

        for wrong in [
            client.list_prompts(cursor="nonsense"),
            client.get_prompt("nothing-999999"),
            client.get_prompt("library"),
            client.call_tool("nothing", {}),
            client.read_resource("http://127.0.0.1:9/x"),
        ]:
            try:
                await wrong
            except MCPError as error:
                print("refused:", error.error.code, error.error.message.splitlines()[0])
            else:
                raise AssertionError("a wrong request was answered")
        await client.list_tools()
    print("passed:", len(names) - 1, "prompts listed")


anyio.run(main)
