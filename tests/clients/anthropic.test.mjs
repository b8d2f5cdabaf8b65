// Anthropic's official Node SDK against a running gateway. Run by test_node.py, which gives
// address and key in the SDK's own variables.
import assert from "node:assert/strict";
import test from "node:test";
import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ maxRetries: 0, timeout: 20_000 });
const messages = [{ role: "user", content: "Hello, gateway." }];
const weather = {
  name: "get_weather",
  input_schema: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
  },
};

test("a plain answer", async () => {
  const answer = await client.messages.create({ model: "sandbox/echo", max_tokens: 100, messages });
  assert.equal(answer.content[0].text, "Hello, gateway.");
  assert.equal(answer.stop_reason, "end_turn");
  assert.match(answer._request_id, /^req_/);
  assert.ok(answer.usage.input_tokens > 0);
});

test("a stream", async () => {
  const stream = client.messages.stream({ model: "sandbox/echo", max_tokens: 100, messages });
  let text = "";
  stream.on("text", (piece) => (text += piece));
  const final = await stream.finalMessage();
  assert.equal(text, "Hello, gateway.");
  assert.equal(final.stop_reason, "end_turn");
});

test("tools, there and back", async () => {
  const asked = [{ role: "user", content: "Weather in Paris?" }];
  const common = { model: "sandbox/tools", max_tokens: 500, tools: [weather] };
  const first = await client.messages.stream({ ...common, messages: asked }).finalMessage();
  assert.equal(first.stop_reason, "tool_use");
  const call = first.content.find((block) => block.type === "tool_use");
  assert.equal(typeof call.input.city, "string");
  const result = { type: "tool_result", tool_use_id: call.id, content: "Sunny, 21 degrees" };
  const last = await client.messages.create({
    ...common,
    messages: [
      ...asked,
      { role: "assistant", content: first.content },
      { role: "user", content: [result] },
    ],
  });
  assert.match(last.content[0].text, /21 degrees/);
});

test("tokens are counted", async () => {
  const { input_tokens } = await client.messages.countTokens({
    model: "sandbox/echo",
    messages: [{ role: "user", content: "word ".repeat(2000) }],
  });
  assert.ok(input_tokens > 1000 && input_tokens < 6000);
});

test("errors are the SDK's own", async () => {
  const ask = (model) => client.messages.create({ model, max_tokens: 10, messages });
  await assert.rejects(ask("sandbox/ecko"), Anthropic.NotFoundError);
  await assert.rejects(ask("sandbox/rate-limit?retry_after=30"), Anthropic.RateLimitError);
  await assert.rejects(ask("sandbox/error?status=503"), (error) => error.status === 529);
});
