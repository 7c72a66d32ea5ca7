"""Drives the Python client of openapi-generator."""

import os
import time
from urllib.parse import parse_qs, urlsplit

import promptarium_generated as api
from promptarium_generated.exceptions import BadRequestException, NotFoundException, UnauthorizedException

url, key = os.environ["SERVER_URL"], os.environ["API_KEY"]


def client(token):
    return api.ApiClient(api.Configuration(host=url, access_token=token))


def equal(found, expected):
    assert found == expected, f"{found!r} is not {expected!r}"


def refused(error, call, *arguments):
    try:
        call(*arguments)
    except error as raised:
        assert raised.data.error and raised.data.data is None, raised
        return raised.data
    raise AssertionError(f"{arguments} are accepted")


vaults, contents = api.VaultsApi(client(key)), api.VaultContentsApi(client(key))
prompts, generations = api.PromptsApi(client(key)), api.GenerationsApi(client(key))

source = vaults.create_vault(api.CreateVaultRequest(name="Hafen Gang ⚓", visibility="public")).data
equal(source.name, "Hafen Gang ⚓")
target = vaults.create_vault(api.CreateVaultRequest(name="Target")).data
for number in range(5):
    body = api.CreatePromptRequest(title=f"t{number}", prompt="p", vault_id=source.id)
    equal(prompts.create_prompt(body).data.prompt_type, api.PromptType.TEXT)

pages, cursor = [], None
while not pages or cursor:
    page = prompts.list_prompts(limit=2, vault_id=source.id, cursor=cursor)
    pages.append([prompt.title for prompt in page.data])
    cursor = page.pagination.next_cursor
equal(pages, [["t4", "t3"], ["t2", "t1"], ["t0"]])

first = contents.list_vault_prompts(source.id).data[0]
pinned = contents.pin_vault_prompt(source.id, first.vault_prompt_id)
equal((pinned.data.is_pinned, pinned.error), (True, None))
move = api.MoveVaultPromptRequest(target_vault_id=target.id)
moved = contents.move_vault_prompt(source.id, first.vault_prompt_id, move).data
equal((moved.prompt_id, moved.target_vault_id), (first.id, target.id))
equal(vaults.fork_vault(source.id).data.prompt_count, 4)

refused(BadRequestException, vaults.fork_vault, target.id)
refused(UnauthorizedException, api.PromptsApi(client("wrong")).get_prompt, first.id)
refused(NotFoundException, prompts.get_prompt, 2**62)

image = b"twelve bytes"
slots = api.UploadsApi(client(key))
slot = slots.create_upload_slot(api.CreateUploadSlotRequest(content_type="image/png", size=len(image))).data
address = urlsplit(slot.upload_url)
name = address.path.rsplit("/", 1)[1]
api.UploadsApi(client(slot.token)).put_upload(name, parse_qs(address.query)["slot"][0], image)
equal(bytes(api.AssetsApi(client(None)).get_asset(name)), image)

body = api.CreateGenerationRequest(
    model_id="local/plasma", prompt="sea", vault_id=target.id, parameters={"seed": 7, "nested": {"a": [None]}}
)
job = generations.create_generation(body).data
deadline = time.monotonic() + 60
while (status := generations.generation_status(job.client_job_id).data).status != "completed":
    assert status.status != "failed" and time.monotonic() < deadline, status
    time.sleep(0.1)
equal(len(prompts.get_prompt(status.prompt_id).data.images), 1)
