// The official Node SDK against a running gateway. Run by test_node.py, which gives address
// and key in the SDK's own variables.
import assert from "node:assert/strict";
import test from "node:test";
import OpenAI from "openai";

const client = new OpenAI({ maxRetries: 0, timeout: 20_000 });
const messages = [{ role: "user", content: "Hello, gateway." }];
const weather = {
  type: "function",
  function: {
    name: "get_weather",
    parameters: {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
    },
  },
};

test("a plain answer", async () => {
  const { data, response } = await client.chat.completions
    .create({ model: "sandbox/echo", messages })
    .withResponse();
  assert.equal(data.choices[0].message.content, "Hello, gateway.");
  assert.equal(data.choices[0].finish_reason, "stop");
  assert.equal(data.model, "sandbox/echo");
  assert.equal(data.usage.total_tokens, data.usage.prompt_tokens + data.usage.completion_tokens);
  assert.match(response.headers.get("x-request-id"), /^req_/);
});

test("a stream, with its usage last", async () => {
  const stream = await client.chat.completions.create({
    model: "sandbox/echo",
    messages,
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = "";
  let last;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta?.content ?? "";
    last = chunk;
  }
  assert.equal(text, "Hello, gateway.");
  assert.deepEqual(last.choices, []);
  assert.ok(last.usage.total_tokens > 0);
});

test("the stream helper collects a tool call", async () => {
  const answer = await client.chat.completions
    .stream({ model: "sandbox/tools", messages, tools: [weather] })
    .finalChatCompletion();
  const [call] = answer.choices[0].message.tool_calls;
  assert.equal(call.function.name, "get_weather");
  assert.equal(typeof JSON.parse(call.function.arguments).city, "string");
});

test("a JSON schema is kept", async () => {
  const answer = await client.chat.completions.create({
    model: "sandbox/json",
    messages,
    response_format: {
      type: "json_schema",
      json_schema: {
        name: "city",
        schema: {
          type: "object",
          properties: { name: { type: "string" } },
          required: ["name"],
        },
      },
    },
  });
  assert.equal(typeof JSON.parse(answer.choices[0].message.content).name, "string");
});

test("thinking streams before the text", async () => {
  const stream = await client.chat.completions.create({
    model: "sandbox/reasoning",
    messages,
    reasoning_effort: "low",
    stream: true,
  });
  const seen = [];
  for await (const chunk of stream) {
    const delta = chunk.choices[0]?.delta ?? {};
    if (delta.reasoning_content) seen.push("thinking");
    if (delta.content) seen.push("text");
  }
  assert.equal(seen[0], "thinking");
  assert.equal(seen.at(-1), "text");
});

test("an unknown model is not found", async () => {
  await assert.rejects(
    client.chat.completions.create({ model: "sandbox/ecko", messages }),
    (error) => error instanceof OpenAI.NotFoundError && error.code === "model_not_found",
  );
});

test("a wrong key is an authentication error", async () => {
  await assert.rejects(
    client.withOptions({ apiKey: "zk-wrong" }).models.list(),
    (error) => error instanceof OpenAI.AuthenticationError && error.code === "invalid_api_key",
  );
});

test("a rate limit is tried again after the time it names", async () => {
  let calls = 0;
  const waits = [];
  const counting = client.withOptions({
    maxRetries: 1,
    fetch: async (...args) => {
      calls += 1;
      const answer = await fetch(...args);
      waits.push(Number(answer.headers.get("retry-after")));
      // The time is checked and cut short, so that the test need not wait for it.
      const headers = new Headers(answer.headers);
      headers.set("retry-after-ms", "1");
      return new Response(answer.body, { status: answer.status, headers });
    },
  });
  await assert.rejects(
    counting.chat.completions.create({ model: "sandbox/rate-limit?retry_after=30", messages }),
    (error) => error instanceof OpenAI.RateLimitError && error.code === "rate_limit_exceeded",
  );
  assert.equal(calls, 2);
  assert.ok(waits.every((wait) => wait > 4 && wait <= 30), `waits were ${waits}`);
});

test("a stream cut upstream is an error", async () => {
  const stream = await client.chat.completions.create({
    model: "sandbox/cut?after=5",
    messages,
    stream: true,
  });
  let text = "";
  await assert.rejects(
    (async () => {
      for await (const chunk of stream) text += chunk.choices[0]?.delta?.content ?? "";
    })(),
    (error) => error instanceof OpenAI.APIError,
  );
  assert.notEqual(text, "");
});

const tool = { type: "function", name: "get_weather", parameters: weather.function.parameters };

test("a response, and what is sent back of it", async () => {
  const input = [{ role: "user", content: "Weather?" }];
  const answer = await client.responses.create({ model: "sandbox/tools", input, tools: [tool] });
  const call = answer.output.find((item) => item.type === "function_call");
  assert.equal(typeof JSON.parse(call.arguments).city, "string");
  const output = { type: "function_call_output", call_id: call.call_id, output: "Sunny" };
  const final = await client.responses.create({
    model: "sandbox/tools",
    input: [...input, ...answer.output, output],
    tools: [tool],
  });
  assert.equal(final.status, "completed");
  assert.ok(final.output_text.length > 0);
});

test("the stream helper follows a response", async () => {
  const stream = client.responses.stream({ model: "sandbox/reasoning", input: "How many?" });
  const types = [];
  for await (const event of stream) types.push(event.type);
  assert.equal(types[0], "response.created");
  assert.equal(types.at(-1), "response.completed");
  const final = await stream.finalResponse();
  assert.deepEqual(
    final.output.map((item) => item.type),
    ["reasoning", "message"],
  );
});
