"""A whole gateway, and callers of its admin API by role."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from zurelay.access.tokens import Role
from zurelay.office.desk import Desk
from zurelay.office.rights import Actor
from zurelay.office.tokens import NewToken, create_token
from zurelay.testing.gateway import RunningGateway
from zurelay.upstream.base import Call
from zurelay.upstream.client import HttpClient
from zurelay.wire import json


@dataclass(frozen=True)
class Told:
    """What was answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.decode(self.body)

    @property
    def error(self) -> Any:
        return self.json["error"]


class Admin:
    """Calls the admin API of a gateway; `tokens` by role, the member's of the account `default`."""

    def __init__(self, gateway: RunningGateway, client: HttpClient, tokens: Mapping[Role, str]):
        self.gateway = gateway
        self.client = client
        self.tokens = tokens
        self.desk = Desk(gateway.store)

    async def call(
        self, method: str, path: str, body: object = None, *, role: Role = "owner"
    ) -> Told:
        content = body if isinstance(body, bytes) else b"" if body is None else json.encode(body)
        return await self.send(
            method, path, content, {"authorization": f"Bearer {self.tokens[role]}"}
        )

    async def send(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Told:
        url = f"{self.gateway.base_url}/api/v1{path}"
        answer = await self.client.fetch(Call(method, url, tuple(headers.items()), body))
        return Told(answer.status, answer.headers, answer.body)

    async def get(self, path: str, *, role: Role = "owner") -> Any:
        told = await self.call("GET", path, role=role)
        assert told.status == 200, told.body
        return told.json

    async def post(self, path: str, body: object = None, *, role: Role = "owner") -> Any:
        told = await self.call("POST", path, body, role=role)
        assert told.status in (200, 201), told.body
        return told.json


OWNER = Actor("test", "owner")


@pytest.fixture
async def admin(tmp_path: Path) -> AsyncIterator[Admin]:
    async with RunningGateway(tmp_path) as gateway, HttpClient() as client:
        desk = Desk(gateway.store)
        roles: tuple[Role, ...] = ("owner", "admin", "read-only")
        tokens: dict[Role, str] = {
            role: create_token(desk, OWNER, NewToken(role, role)).token for role in roles
        }
        member = NewToken("member", "member", "default")
        tokens["member"] = create_token(desk, OWNER, member).token
        yield Admin(gateway, client, tokens)
