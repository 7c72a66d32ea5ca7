"""Drives the client of openapi-python-client."""

import os
import time
from urllib.parse import parse_qs, urlsplit

from promptarium_client import AuthenticatedClient, Client, models
from promptarium_client.api.assets import get_asset
from promptarium_client.api.generations import create_generation, generation_status
from promptarium_client.api.prompts import create_prompt, get_prompt, list_prompts
from promptarium_client.api.uploads import create_upload_slot, put_upload
from promptarium_client.api.vault_contents import list_vault_prompts, move_vault_prompt, pin_vault_prompt
from promptarium_client.api.vaults import create_vault, fork_vault
from promptarium_client.types import File

url, key = os.environ["SERVER_URL"], os.environ["API_KEY"]
client = AuthenticatedClient(base_url=url, token=key, raise_on_unexpected_status=True)


def equal(found, expected):
    assert found == expected, f"{found!r} is not {expected!r}"


def vault(name, **fields):
    return create_vault.sync(client=client, body=models.CreateVaultRequest(name=name, **fields)).data


source = vault("Hafen Gang ⚓", visibility=models.Visibility.PUBLIC)
equal(source.name, "Hafen Gang ⚓")
target = vault("Target")
for number in range(5):
    body = models.CreatePromptRequest(title=f"t{number}", prompt="p", vault_id=source.id)
    equal(create_prompt.sync(client=client, body=body).data.prompt_type, models.PromptType.TEXT)

pages, cursor = [], None
while not pages or cursor:
    more = {"cursor": cursor} if cursor else {}
    page = list_prompts.sync(client=client, limit=2, vault_id=source.id, **more)
    pages.append([prompt.title for prompt in page.data])
    cursor = page.pagination.next_cursor
equal(pages, [["t4", "t3"], ["t2", "t1"], ["t0"]])

first = list_vault_prompts.sync(source.id, client=client).data[0]
pinned = pin_vault_prompt.sync(source.id, first.vault_prompt_id, client=client)
equal((pinned.data.is_pinned, pinned.error), (True, None))
move = models.MoveVaultPromptRequest(target_vault_id=target.id)
moved = move_vault_prompt.sync(source.id, first.vault_prompt_id, client=client, body=move).data
equal((moved.prompt_id, moved.target_vault_id), (first.id, target.id))
equal(fork_vault.sync(source.id, client=client).data.prompt_count, 4)

refused = fork_vault.sync(target.id, client=client)
assert isinstance(refused, models.ValidationErrorResponse), refused
stranger = AuthenticatedClient(base_url=url, token="wrong", raise_on_unexpected_status=True)
for answer in (get_prompt.sync(first.id, client=stranger), get_prompt.sync(2**62, client=client)):
    assert isinstance(answer, models.ErrorResponse) and answer.error, answer

image = b"twelve bytes"
body = models.CreateUploadSlotRequest(content_type=models.ImageType.IMAGEPNG, size=len(image))
slot = create_upload_slot.sync(client=client, body=body).data
address = urlsplit(slot.upload_url)
name, signed = address.path.rsplit("/", 1)[1], parse_qs(address.query)["slot"][0]
uploader = AuthenticatedClient(base_url=url, token=slot.token, raise_on_unexpected_status=True)
equal(put_upload.sync_detailed(name, client=uploader, body=File(image), slot=signed).status_code, 200)
open_client = Client(base_url=url, raise_on_unexpected_status=True)
equal(get_asset.sync_detailed(name, client=open_client).content, image)
equal(get_asset.sync(name, client=open_client).payload.read(), image)

parameters = models.CreateGenerationRequestParameters.from_dict({"seed": 7, "nested": {"a": [None]}})
body = models.CreateGenerationRequest(
    model_id="local/plasma", prompt="sea", vault_id=target.id, parameters=parameters
)
job = create_generation.sync(client=client, body=body).data
deadline = time.monotonic() + 60
while (status := generation_status.sync(job.client_job_id, client=client).data).status != "completed":
    assert status.status != "failed" and time.monotonic() < deadline, status
    time.sleep(0.1)
equal(len(get_prompt.sync(status.prompt_id, client=client).data.images), 1)
