"""What a key may look up."""

import secrets

from tests.app.conftest import Caller as Client
from zurelay.access.keys import Key, hash_key, last4, make_key
from zurelay.store.accounts import ensure_account
from zurelay.store.keys import add_key, list_keys
from zurelay.testing.chat import chat_reply
from zurelay.testing.gateway import RunningGateway
from zurelay.testing.script import json_reply
from zurelay.testing.upstream import ScriptedUpstream


async def test_an_unknown_request_id_is_a_404(client: Client) -> None:
    answer = await client.get("/v1/requests/req_nothing")
    assert (answer.status, answer.json["error"]["code"]) == (404, "not_found")


async def test_models_have_openais_shape_or_anthropics(client: Client) -> None:
    listed = (await client.get("/v1/models")).json
    assert listed["object"] == "list"
    [model] = [m for m in listed["data"] if m["id"] == "test-model"]
    assert model["routes_up"] == 1
    assert (await client.get("/v1/models/test-model")).json == model
    headers = {**client.gateway.headers, "anthropic-version": "2023-06-01"}
    other = (await client.send("GET", "/v1/models?limit=1", headers=headers)).json
    assert (len(other["data"]), other["has_more"]) == (1, True)
    one = (await client.send("GET", "/v1/models/test-model", headers=headers)).json
    assert (one["type"], one["id"]) == ("model", "test-model")
    bad = await client.send("GET", "/v1/models?limit=x", headers=headers)
    assert (bad.status, bad.json["error"]["param"]) == (400, "limit")


async def test_an_unknown_model_is_a_404_with_the_nearest(client: Client) -> None:
    answer = await client.get("/v1/models/test-modle")
    assert (answer.status, answer.json["error"]["code"]) == (404, "model_not_found")
    assert "'test-model'" in answer.json["error"]["message"]


async def test_a_key_sees_itself_and_only_the_models_it_may_use(
    client: Client, gateway: RunningGateway, upstream: ScriptedUpstream
) -> None:
    upstream.enqueue(json_reply(chat_reply("Hi")))
    answer = await client.chat()
    own = (await client.get("/v1/key")).json
    assert (own["name"], own["account"]) == ("first key", "default")
    assert own["spent_usd"] != "0"
    text = make_key(secrets.token_bytes(32))
    with gateway._store.write() as connection:
        account = ensure_account(connection, "other", "acct_other", 0).id
        assert len(list_keys(connection)) == 1
        add_key(
            connection,
            Key(
                "key_2",
                "second",
                account,
                "other",
                hash_key(text),
                last4(text),
                0,
                ("sandbox/echo",),
            ),
        )
    headers = {"authorization": f"Bearer {text}"}
    listed = (await client.send("GET", "/v1/models", headers=headers)).json["data"]
    assert [m["id"] for m in listed] == ["sandbox/echo"]
    hidden = await client.send("GET", "/v1/models/test-model", headers=headers)
    assert hidden.status == 404
    path = f"/v1/requests/{answer.headers['x-request-id']}"
    assert (await client.send("GET", path, headers=headers)).status == 404
