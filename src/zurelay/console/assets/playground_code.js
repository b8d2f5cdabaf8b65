// A request of the playground as programs: curl, Python, Node. Knows nothing of the page.
"use strict";

const requestAsCode = (() => {
  // Files are left out: what is copied is to be read.
  function shortened(value) {
    return JSON.parse(JSON.stringify(value, (key, one) => (typeof one === "string" && one.startsWith("data:") && one.length > 80 ? `${one.slice(0, 40)}…` : one)));
  }

  function python(value, indent) {
    const deeper = `${indent}    `;
    if (value === null) return "None";
    if (value === true) return "True";
    if (value === false) return "False";
    if (Array.isArray(value)) return value.length ? `[\n${value.map((one) => deeper + python(one, deeper)).join(",\n")},\n${indent}]` : "[]";
    if (typeof value === "object") {
      const pairs = Object.entries(value).map(([key, one]) => `${deeper}${JSON.stringify(key)}: ${python(one, deeper)}`);
      return pairs.length ? `{\n${pairs.join(",\n")},\n${indent}}` : "{}";
    }
    return JSON.stringify(value);
  }

  function curl(body, base) {
    const quoted = JSON.stringify(body, null, 2).replaceAll("'", "'\\''");
    return `curl ${base}/v1/chat/completions \\\n  -H "Authorization: Bearer $ZURELAY_API_KEY" \\\n  -H "Content-Type: application/json" \\\n  -d '${quoted}'`;
  }

  function inPython(body, base) {
    const named = Object.entries(body).map(([key, value]) => `    ${key}=${python(value, "    ")},`).join("\n");
    const read = body.stream
      ? 'for chunk in answer:\n    if chunk.choices and chunk.choices[0].delta.content:\n        print(chunk.choices[0].delta.content, end="", flush=True)'
      : "print(answer.choices[0].message.content)";
    return `import os\n\nfrom openai import OpenAI\n\nclient = OpenAI(base_url="${base}/v1", api_key=os.environ["ZURELAY_API_KEY"])\nanswer = client.chat.completions.create(\n${named}\n)\n${read}`;
  }

  function inNode(body, base) {
    const read = body.stream
      ? 'for await (const chunk of answer) {\n  process.stdout.write(chunk.choices[0]?.delta?.content ?? "");\n}'
      : "console.log(answer.choices[0].message.content);";
    return `import OpenAI from "openai";\n\nconst client = new OpenAI({ baseURL: "${base}/v1", apiKey: process.env.ZURELAY_API_KEY });\nconst answer = await client.chat.completions.create(${JSON.stringify(body, null, 2)});\n${read}`;
  }

  return (asked, base) => {
    const body = shortened(asked);
    return [curl(body, base), inPython(body, base), inNode(body, base)];
  };
})();
