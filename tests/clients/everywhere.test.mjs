// The official Node SDKs against upstreams of every format. Run by test_node.py, which gives
// address and key in the SDKs' own variables.
import assert from "node:assert/strict";
import test from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

const openai = new OpenAI({ maxRetries: 0, timeout: 20_000 });
const anthropic = new Anthropic({ maxRetries: 0, timeout: 20_000 });
const hello = [{ role: "user", content: "Hello, gateway." }];
const schema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
const FROM_TOOL = "From the tool results: get_weather answered: 21 degrees";
const THOUGHT = "Answered after thinking at effort low: Hello, gateway.";
const sure = { role: "user", content: "Sure?" };
const SURE = "Answered after thinking at effort low: Sure?";

for (const upstream of ["chat", "messages", "responses", "gemini"]) {
  const model = (name) => `${upstream}-${name}`;

  for (const streams of [false, true]) {
    const named = (what) => `${what}, upstream ${upstream}${streams ? ", streaming" : ""}`;

    const chat = async (body) => {
      if (!streams) return (await openai.chat.completions.create(body)).choices[0];
      // The helper keeps only the last piece of fields it does not know.
      let thought = "";
      const details = [];
      const stream = openai.chat.completions.stream(body);
      stream.on("chunk", ({ choices: [choice] }) => {
        thought += choice?.delta?.reasoning_content ?? "";
        details.push(...(choice?.delta?.reasoning_details ?? []));
      });
      const choice = (await stream.finalChatCompletion()).choices[0];
      if (thought) Object.assign(choice.message, { reasoning_content: thought });
      if (details.length) Object.assign(choice.message, { reasoning_details: details });
      return choice;
    };
    const messages = (given) => {
      const body = { max_tokens: 5000, ...given };
      return streams ? anthropic.messages.stream(body).finalMessage() : anthropic.messages.create(body);
    };
    const responses = (given) => {
      const body = { store: false, ...given };
      return streams ? openai.responses.stream(body).finalResponse() : openai.responses.create(body);
    };
    const text = (answer) =>
      answer.content.filter((block) => block.type === "text").map((block) => block.text).join("");
    const said = (answer) =>
      answer.output
        .filter((item) => item.type === "message")
        .flatMap((item) => item.content.map((part) => part.text))
        .join("");
    // Fields that the SDK itself adds to what came.
    const back = (answer) =>
      answer.output.map(({ parsed_arguments, ...item }) =>
        item.content ? { ...item, content: item.content.map(({ parsed, ...part }) => part) } : item,
      );

    test(named("Chat Completions: an answer"), async () => {
      const choice = await chat({ model: model("echo"), messages: hello });
      assert.equal(choice.message.content, "Hello, gateway.");
      assert.equal(choice.finish_reason, "stop");
    });

    test(named("Chat Completions: tools there and back"), async () => {
      const tools = [{ type: "function", function: { name: "get_weather", parameters: schema } }];
      const asked = { model: model("tools"), tools };
      const { message, finish_reason } = await chat({ ...asked, messages: hello });
      assert.equal(finish_reason, "tool_calls");
      const [call] = message.tool_calls;
      assert.equal(typeof JSON.parse(call.function.arguments).city, "string");
      const result = { role: "tool", tool_call_id: call.id, content: "21 degrees" };
      const last = await chat({ ...asked, messages: [...hello, message, result] });
      assert.equal(last.message.content, FROM_TOOL);
    });

    test(named("Chat Completions: thinking comes and goes back"), async () => {
      const asked = { model: model("reasoning"), reasoning_effort: "low" };
      const { message } = await chat({ ...asked, messages: hello });
      assert.match(message.reasoning_content, /^The question is: Hello, gateway\./);
      assert.equal(message.content, THOUGHT);
      const again = await chat({ ...asked, messages: [...hello, message, sure] });
      assert.equal(again.message.content, SURE);
    });

    test(named("Chat Completions: structured output"), async () => {
      const choice = await chat({
        model: model("json"),
        messages: hello,
        response_format: { type: "json_schema", json_schema: { name: "city", schema } },
      });
      assert.equal(typeof JSON.parse(choice.message.content).city, "string");
    });

    test(named("Messages: an answer"), async () => {
      const answer = await messages({ model: model("echo"), messages: hello });
      assert.equal(text(answer), "Hello, gateway.");
      assert.equal(answer.stop_reason, "end_turn");
      assert.ok(answer.usage.input_tokens > 0);
    });

    test(named("Messages: tools there and back"), async () => {
      const asked = {
        model: model("tools"),
        tools: [{ name: "get_weather", input_schema: schema }],
      };
      const { content, stop_reason } = await messages({ ...asked, messages: hello });
      assert.equal(stop_reason, "tool_use");
      const call = content.at(-1);
      assert.equal(typeof call.input.city, "string");
      const result = { type: "tool_result", tool_use_id: call.id, content: "21 degrees" };
      const last = await messages({
        ...asked,
        messages: [...hello, { role: "assistant", content }, { role: "user", content: [result] }],
      });
      assert.equal(text(last), FROM_TOOL);
    });

    test(named("Messages: thinking comes and goes back"), async () => {
      const asked = {
        model: model("reasoning"),
        thinking: { type: "adaptive", display: "summarized" },
        output_config: { effort: "low" },
      };
      const answer = await messages({ ...asked, messages: hello });
      assert.match(answer.content[0].thinking, /^The question is: Hello, gateway\./);
      assert.ok(answer.content[0].signature);
      assert.equal(text(answer), THOUGHT);
      const said = { role: "assistant", content: answer.content };
      const again = await messages({ ...asked, messages: [...hello, said, sure] });
      assert.equal(text(again), SURE);
    });

    test(named("Messages: structured output"), async () => {
      const answer = await messages({
        model: model("json"),
        messages: hello,
        output_config: { format: { type: "json_schema", schema } },
      });
      assert.equal(typeof JSON.parse(text(answer)).city, "string");
    });

    test(named("Responses: an answer"), async () => {
      const answer = await responses({ model: model("echo"), input: "Hello, gateway." });
      assert.equal(said(answer), "Hello, gateway.");
      assert.equal(answer.status, "completed");
      assert.ok(answer.usage.total_tokens > 0);
    });

    test(named("Responses: tools there and back"), async () => {
      const tool = { type: "function", name: "get_weather", parameters: schema, strict: false };
      const asked = { model: model("tools"), tools: [tool] };
      const answer = await responses({ ...asked, input: hello });
      const call = answer.output.at(-1);
      assert.equal(call.type, "function_call");
      assert.equal(typeof JSON.parse(call.arguments).city, "string");
      const output = { type: "function_call_output", call_id: call.call_id, output: "21 degrees" };
      const last = await responses({ ...asked, input: [...hello, ...back(answer), output] });
      assert.equal(said(last), FROM_TOOL);
    });

    test(named("Responses: thinking comes and goes back"), async () => {
      const asked = {
        model: model("reasoning"),
        reasoning: { effort: "low", summary: "auto" },
        include: ["reasoning.encrypted_content"],
      };
      const answer = await responses({ ...asked, input: hello });
      assert.equal(answer.output[0].type, "reasoning");
      assert.match(JSON.stringify(answer.output[0]), /The question is: Hello, gateway\./);
      assert.equal(said(answer), THOUGHT);
      const again = await responses({ ...asked, input: [...hello, ...back(answer), sure] });
      assert.equal(said(again), SURE);
    });

    test(named("Responses: structured output"), async () => {
      const answer = await responses({
        model: model("json"),
        input: hello,
        text: { format: { type: "json_schema", name: "city", schema } },
      });
      assert.equal(typeof JSON.parse(said(answer)).city, "string");
    });

    test(named("errors are the SDKs' own"), async () => {
      const asked = { model: model("error") };
      await assert.rejects(chat({ ...asked, messages: hello }), OpenAI.InternalServerError);
      await assert.rejects(messages({ ...asked, messages: hello }), Anthropic.APIError);
      await assert.rejects(responses({ ...asked, input: hello }), OpenAI.InternalServerError);
    });
  }

  test(`Messages: tokens are counted, upstream ${upstream}`, async () => {
    const content = "word ".repeat(2000);
    const count = await anthropic.messages.countTokens({
      model: model("echo"),
      messages: [{ role: "user", content }],
    });
    assert.ok(count.input_tokens > 1000 && count.input_tokens < 6000, `${count.input_tokens}`);
  });
}
