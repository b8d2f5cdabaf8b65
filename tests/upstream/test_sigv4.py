"""Signatures, against the vectors that AWS publishes and against AWS's own signer."""

from datetime import UTC, datetime

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from zurelay.providers.base import AwsCredential
from zurelay.upstream.base import Call
from zurelay.upstream.sigv4 import signed

EXAMPLE = AwsCredential("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "us-east-1")
NOW = datetime(2015, 8, 30, 12, 36, tzinfo=UTC).timestamp()
TYPE = ("content-type", "application/x-www-form-urlencoded")


def authorization(call: Call) -> str:
    return dict(call.headers)["authorization"]


@pytest.mark.parametrize(
    ("method", "headers", "body", "signature"),
    [
        ("GET", (), b"", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("POST", (), b"", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        (
            "POST",
            (TYPE,),
            b"Param1=value1",
            "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
        ),
    ],
)
def test_the_published_vectors_come_out(
    method: str, headers: tuple[tuple[str, str], ...], body: bytes, signature: str
) -> None:
    call = Call(method, "https://example.amazonaws.com/", headers, body)
    told = authorization(signed(call, EXAMPLE, "service", NOW))
    names = "content-type;host;x-amz-date" if headers else "host;x-amz-date"
    assert told == (
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
        f"SignedHeaders={names}, Signature={signature}"
    )


def test_the_published_walk_through_comes_out() -> None:
    url = "https://iam.amazonaws.com/?Version=2010-05-08&Action=ListUsers"
    call = Call("GET", url, ((TYPE[0], f"{TYPE[1]}; charset=utf-8"),), b"")
    told = authorization(signed(call, EXAMPLE, "iam", NOW))
    assert told.endswith("5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7")


@pytest.mark.parametrize("token", ["", "TOKEN//+="])
@pytest.mark.parametrize(
    "path",
    [
        "/model/anthropic.claude-opus-5-5-v1%3A0/converse",
        "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fx.y/converse",
        "/model/a~b_c.d/invoke-with-response-stream",
    ],
)
def test_awss_own_signer_says_the_same(path: str, token: str) -> None:
    credential = AwsCredential("AKID", "secret", "eu-central-1", token)
    url = f"https://bedrock-runtime.eu-central-1.amazonaws.com{path}"
    headers = (("content-type", "application/json"), ("x-amzn-note", "n"), ("x-team", "a"))
    call = signed(Call("POST", url, headers, b'{"a": "\xc3\xa9"}'), credential, "bedrock", NOW)
    ours = dict(call.headers)
    names = ours["authorization"].split("SignedHeaders=")[1].split(",")[0].split(";")
    assert names == sorted(names)
    under = {name: value for name, value in ours.items() if name in names}
    theirs = AWSRequest("POST", url, under, call.body)
    theirs.context["timestamp"] = ours["x-amz-date"]
    signer = SigV4Auth(Credentials("AKID", "secret", token or None), "bedrock", credential.region)
    text = signer.string_to_sign(theirs, signer.canonical_request(theirs))
    assert ours["authorization"].endswith("Signature=" + signer.signature(text, theirs))
    assert ours["x-amz-date"] == "20150830T123600Z"
    assert ours.get("x-amz-security-token", "") == token


def test_a_signature_holds_for_its_own_bytes_and_port_only() -> None:
    call = Call("POST", "http://127.0.0.1:8123/model/x/converse", (), b"{}")
    base = authorization(signed(call, EXAMPLE, "bedrock", NOW))
    others = [
        Call("POST", "http://127.0.0.1:8123/model/x/converse", (), b"{ }"),
        Call("POST", "http://127.0.0.1:8124/model/x/converse", (), b"{}"),
        Call("POST", "http://127.0.0.1:8123/model/y/converse", (), b"{}"),
    ]
    told = {authorization(signed(other, EXAMPLE, "bedrock", NOW)) for other in others}
    later = authorization(signed(call, EXAMPLE, "bedrock", NOW + 1))
    assert len({base, later, *told}) == 5


def test_secrets_stay_out_of_the_repr() -> None:
    told = repr(AwsCredential("AKID", "SECRET", "eu-central-1", "TOKEN"))
    assert "SECRET" not in told
    assert "TOKEN" not in told
