// A complete MCP server over stdio with one tool, `lookup`, which returns a word. It uses newline-delimited JSON-RPC.
import { createInterface } from "node:readline";

const results = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "words", version: "1.0.0" } }),
  ping: () => ({}),
  "tools/list": () => ({
    tools: [
      {
        name: "lookup",
        description: "Looks up a word.",
        inputSchema: { type: "object", properties: { key: { type: "string" } }, required: ["key"] },
        annotations: { readOnlyHint: true },
      },
    ],
  }),
  "tools/call": ({ arguments: { key } }) => ({ content: [{ type: "text", text: `${process.env.WORD ?? "no word"} for ${key}` }] }),
};

createInterface(process.stdin).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = results[method]?.(params);
  const answer = result === undefined ? { error: { code: -32601, message: "unknown method" } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
});
