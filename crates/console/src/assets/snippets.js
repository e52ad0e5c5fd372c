// The call that the playground makes, as code for others to use. It holds no key: each reads it from its
// environment.

const origin = () => location.origin;
const python = (text) => JSON.stringify(text).replaceAll("\u007f", "\\u007f");
/** For a shell, within single quotes. */
const shell = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/** The code between fences, as loopback finds it. */
export function fenced(message) {
  return message.match(/```[^\n]*\n([\s\S]*?)```/)?.[1].trimEnd() ?? "print('hello')";
}

export const snippets = {
  python: ({ model, message, previous }) => `import os
from openai import OpenAI

client = OpenAI(base_url=${python(`${origin()}/v1`)}, api_key=os.environ.get("SANDGATE_KEY", "none"))

stream = client.responses.create(
    model=${python(model)},
    input=${lines(message)},
    tools=[{"type": "code_interpreter", "container": {"type": "auto"}}],
    include=["code_interpreter_call.outputs"],${previous ? `\n    previous_response_id=${python(previous)},` : ""}
    stream=True,
)
for event in stream:
    if event.type == "response.output_text.delta":
        print(event.delta, end="", flush=True)
    elif event.type == "response.code_interpreter_call_code.done":
        print(event.code)
`,
  curl: ({ model, message, previous }) => {
    const body = {
      model,
      input: message,
      tools: [{ type: "code_interpreter", container: { type: "auto" } }],
      include: ["code_interpreter_call.outputs"],
      ...(previous ? { previous_response_id: previous } : {}),
      stream: true,
    };
    return `curl -N ${origin()}/v1/responses \\
  -H "Authorization: Bearer $SANDGATE_KEY" \\
  -H "Content-Type: application/json" \\
  -d ${shell(JSON.stringify(body, null, 2))}
`;
  },
  e2b: ({ message }) => `import os
from e2b_code_interpreter import Sandbox

# The same code without a model; E2B_API_KEY is a key of this server.
os.environ["E2B_API_URL"] = ${python(`${origin()}/e2b`)}
os.environ["E2B_SANDBOX_URL"] = os.environ["E2B_API_URL"]

with Sandbox.create() as sandbox:
    execution = sandbox.run_code(${lines(fenced(message))})
    print("".join(execution.logs.stdout))
    for result in execution.results:
        if result.png:
            print("a chart,", len(result.png), "bytes of base64")
`,
};

/** A text of several lines as Python writes it. */
function lines(text) {
  const all = text.split("\n");
  if (all.length === 1) return python(text);
  return `"\\n".join([\n${all.map((line) => `        ${python(line)},`).join("\n")}\n    ])`;
}
