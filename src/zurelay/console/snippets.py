"""A first request as code, for those who have just made a key or look at a model.

Knows no page; the documentation's examples are its own.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

UNKNOWN_KEY: Final = "$ZURELAY_API_KEY"
"""Stands where nobody knows the key's text: everywhere but on the page that just made it."""


def samples(base_url: str, model: str, key: str = UNKNOWN_KEY) -> list[tuple[str, str]]:
    """Pairs of a label and a program that asks `model` for a greeting.

    Each begins with how to get the client it uses: without that the first run fails.

    Args:
        base_url: without `/v1`.
        model: a public id.
        key: its text, or what the shell puts in its place.
    """
    return [
        ("curl", curl(base_url, model, key)),
        ("Python", _python(base_url, model, key)),
        ("Node", _node(base_url, model, key)),
        ("Anthropic SDK", _anthropic(base_url, model, key)),
    ]


def embedding_samples(base_url: str, model: str) -> list[tuple[str, str]]:
    """As `samples`, of a model that makes embeddings: programs that ask for a text's vector."""
    body = {"model": model, "input": "Hello"}
    return [
        ("curl", _posted(f"{base_url}/v1/embeddings", UNKNOWN_KEY, body)),
        ("Python", _python_embedding(base_url, model)),
        ("Node", _node_embedding(base_url, model)),
    ]


def curl(base_url: str, model: str, key: str = UNKNOWN_KEY) -> str:
    """The request on a shell."""
    body = {"model": model, "messages": [{"role": "user", "content": "Hello"}]}
    return _posted(f"{base_url}/v1/chat/completions", key, body)


def _posted(url: str, key: str, body: Mapping[str, Any]) -> str:
    return (
        f"curl {url} \\\n"
        f'  -H "Authorization: Bearer {key}" \\\n'
        '  -H "Content-Type: application/json" \\\n'
        f"  -d '{json.dumps(body)}'"
    )


def _python(base_url: str, model: str, key: str) -> str:
    shown = 'os.environ["ZURELAY_API_KEY"]' if key == UNKNOWN_KEY else f'"{key}"'
    first = "import os\n\n" if key == UNKNOWN_KEY else ""
    return (
        f"# pip install openai\n{first}from openai import OpenAI\n\n"
        f'client = OpenAI(base_url="{base_url}/v1", api_key={shown})\n'
        "answer = client.chat.completions.create(\n"
        f'    model="{model}",\n'
        '    messages=[{"role": "user", "content": "Hello"}],\n'
        ")\n"
        "print(answer.choices[0].message.content)"
    )


def _node(base_url: str, model: str, key: str) -> str:
    shown = "process.env.ZURELAY_API_KEY" if key == UNKNOWN_KEY else f'"{key}"'
    return (
        "// npm install openai, then: node hello.mjs\n"
        'import OpenAI from "openai";\n\n'
        f'const client = new OpenAI({{ baseURL: "{base_url}/v1", apiKey: {shown} }});\n'
        "const answer = await client.chat.completions.create({\n"
        f'  model: "{model}",\n'
        '  messages: [{ role: "user", content: "Hello" }],\n'
        "});\n"
        "console.log(answer.choices[0].message.content);"
    )


def _anthropic(base_url: str, model: str, key: str) -> str:
    shown = 'os.environ["ZURELAY_API_KEY"]' if key == UNKNOWN_KEY else f'"{key}"'
    first = "import os\n\n" if key == UNKNOWN_KEY else ""
    return (
        f"# pip install anthropic\n{first}from anthropic import Anthropic\n\n"
        f'client = Anthropic(base_url="{base_url}", api_key={shown})\n'
        "answer = client.messages.create(\n"
        f'    model="{model}",\n'
        "    max_tokens=1024,\n"
        '    messages=[{"role": "user", "content": "Hello"}],\n'
        ")\n"
        "print(answer.content[0].text)"
    )


def _python_embedding(base_url: str, model: str) -> str:
    return (
        "# pip install openai\nimport os\n\nfrom openai import OpenAI\n\n"
        f'client = OpenAI(base_url="{base_url}/v1", api_key=os.environ["ZURELAY_API_KEY"])\n'
        f'answer = client.embeddings.create(model="{model}", input="Hello")\n'
        "print(len(answer.data[0].embedding))"
    )


def _node_embedding(base_url: str, model: str) -> str:
    return (
        "// npm install openai, then: node hello.mjs\n"
        'import OpenAI from "openai";\n\n'
        f'const client = new OpenAI({{ baseURL: "{base_url}/v1",'
        " apiKey: process.env.ZURELAY_API_KEY });\n"
        "const answer = await client.embeddings.create"
        f'({{ model: "{model}", input: "Hello" }});\n'
        "console.log(answer.data[0].embedding.length);"
    )
