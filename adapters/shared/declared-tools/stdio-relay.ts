// An MCP server over stdio for programs that do not support MCP over HTTP. It forwards every message to Bridge's server
// and returns every answer.
import { createInterface } from "node:readline";
import { createParser } from "eventsource-parser";
import { z } from "zod";
import { RELAY_VARIABLES } from "./tool-server-spec.ts";

const url = process.env[RELAY_VARIABLES.url] ?? "";
const headers = {
  authorization: `Bearer ${process.env[RELAY_VARIABLES.secret]}`,
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
};

const writeMessage = (message: string): void => void process.stdout.write(`${message}\n`);

const messageSchema = z.looseObject({
  method: z.string().optional(),
  params: z.looseObject({ name: z.string().optional(), _meta: z.record(z.string(), z.unknown()).optional() }).optional(),
});

/**
 * Returns the HTTP headers of a message. In newer versions of the protocol, they repeat parts of the message, and the server compares both.
 */
function headersOf(message: string): Record<string, string> {
  const { method, params } = messageSchema.safeParse(JSON.parse(message)).data ?? {};
  const values = {
    "mcp-protocol-version": params?._meta?.["io.modelcontextprotocol/protocolVersion"],
    "mcp-method": method,
    "mcp-name": params?.name,
  };
  if (values["mcp-protocol-version"] === undefined) return headers;
  const valid = Object.entries(values).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string" && /^[!-~]+$/.test(entry[1]),
  );
  return { ...headers, ...Object.fromEntries(valid) };
}

async function relay(message: string): Promise<void> {
  const response = await fetch(url, { method: "POST", headers: headersOf(message), body: message });
  if (response.body === null) return;
  if (response.headers.get("content-type")?.includes("text/event-stream") !== true) return writeMessage((await response.text()).trim());
  const parser = createParser({ onEvent: ({ data }) => writeMessage(data) });
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) parser.feed(text);
}

createInterface(process.stdin)
  .on("line", (line) => {
    // When Bridge's server closes, the task is over, so this program exits.
    relay(line).catch(() => process.exit(1));
  })
  .on("close", () => process.exit(0));
