import { BridgeError } from "../../src/errors.ts";
import { checkJson } from "../../src/requests/check-json.ts";
import { createDispatchParser } from "../../src/requests/parse-dispatch.ts";

/** A dispatch that is expensive to process. */
export interface HostileBody {
  name: string;
  bytes: Buffer;
  status: 202 | 400 | 413;
}

/** The default of BRIDGE_BODY_LIMIT. */
const BODY_LIMIT_BYTES = 8 * 1024 * 1024;
/** The maximum number of values, minus those of the surrounding dispatch. */
const FULL = 49_900;

/** Bodies within BRIDGE_BODY_LIMIT: each kind at the maximum number of values, and above it. */
export function makeHostileBodies(): HostileBody[] {
  const accepted = {
    "one text of 8 MB": systemPrompt("x", 1),
    "one text of \\u escapes": systemPrompt("\\u0041", 6),
    "one text of control characters": systemPrompt("\\u0001", 6),
    "one text of quotes": systemPrompt('\\"', 2),
    "one text of Chinese": systemPrompt("漢", 3),
    "message and stdin of emoji": `"stdin":"${"🙂".repeat(1_000_000)}","message":"${"🙂".repeat(1_000_000)}"`,
    "50,000 numbers": metadata(list(FULL, () => "0")),
    "50,000 numbers of 160 digits": metadata(list(FULL, (index) => `0.${String(index).padEnd(160, "7")}`)),
    "50,000 integers of 160 digits": metadata(list(FULL, (index) => String(index + 1).padEnd(160, "0"))),
    "50,000 texts": metadata(list(FULL, (index) => `"${String(index).padEnd(160, "x")}"`)),
    "50,000 empty objects": metadata(list(FULL, () => "{}")),
    "50,000 empty arrays": metadata(list(FULL, () => "[]")),
    "50,000 keys of 150 characters": `"metadata":{${keys(FULL, (index) => `"${hash(index)}${"k".repeat(140)}":1`)}}`,
    "16,000 objects with keys in disorder": metadata(list(FULL / 3, (index) => `{"b":${index},"a":"${"x".repeat(400)}"}`)),
    "500 arrays, 98 deep": metadata(list(FULL / 98, () => `${"[".repeat(97)}"${"x".repeat(14_000)}"${"]".repeat(97)}`)),
    "1,000 tools": `"tools":${list(1000, (index) => `{"name":"t${index}","description":"${"x".repeat(8000)}","input_schema":{"type":"object"}}`)}`,
    "1,000 tools of 40 properties": `"tools":${list(1000, (tool) => `{"name":"t${tool}","input_schema":{${keys(40, (index) => `"property${index}":{}`)}}}`)}`,
    "100 files of 10 KB": `"files":${list(100, (index) => `{"path":"${"d/".repeat(50)}${index}","content":"${"x".repeat(10_000)}"}`)}`,
    "100 files of base64": `"files":${list(100, (index) => `{"path":"${index}","encoding":"base64","content":"${"AAAA".repeat(3000)}"}`)}`,
  };
  const refused = {
    "50,000 numbers and one that changes": metadata(`[${keys(FULL, (index) => String(index + 1).padEnd(160, "0"))},9007199254740993]`),
    "50,000 keys, the last one repeated": `"metadata":{${keys(FULL, (index) => `"${hash(index % (FULL - 1))}${"k".repeat(140)}":1`)}}`,
    "50,000 unknown fields": keys(FULL, (index) => `"${hash(index)}${"k".repeat(140)}":1`),
    "a field of 8 MB": `"${"k".repeat(BODY_LIMIT_BYTES - 1000)}":1`,
    "50,000 tools": `"tools":${list(FULL, () => '"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"')}`,
    "12,000 mcpServers": `"mcpServers":${list(FULL / 4, (index) => `{"name":"${index}","transport":"stdio","command":"${"x".repeat(200)}"}`)}`,
    "50,000 wrong mcpServers": `"mcpServers":${list(FULL, () => '"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"')}`,
    "an environment of 49,000": `"mcpServers":[{"name":"a","transport":"stdio","command":"x","env":{${keys(49_000, (index) => `"${hash(index)}":"${"x".repeat(60)}"`)}}}]`,
    "16,000 files": `"files":${list(FULL / 3, (index) => `{"path":"${index}","content":"${"x".repeat(400)}"}`)}`,
    "a file of 8 MB": `"files":[{"path":"a","content":"${"x".repeat(BODY_LIMIT_BYTES - 1000)}"}]`,
    "a file of 8 MB of base64": `"files":[{"path":"a","encoding":"base64","content":"${"AAAA".repeat((BODY_LIMIT_BYTES - 1000) / 4)}"}]`,
    "a file with a path of 8 MB": `"files":[{"path":"${"a/".repeat((BODY_LIMIT_BYTES - 1000) / 2)}b","content":""}]`,
    "100 files with paths of 80 KB": `"files":${list(100, (index) => `{"path":"${"a/".repeat(40_000)}${index}","content":""}`)}`,
    "a model's name of 8 MB": `"model":"${"x".repeat(BODY_LIMIT_BYTES - 1000)}"`,
    "a callback URL of 8 MB": `"callbackUrl":"https://${"x".repeat(BODY_LIMIT_BYTES - 1000)}"`,
    "40,000 levels": metadata(`${"[".repeat(40_000)}"${"x".repeat(7_000_000)}"${"]".repeat(40_000)}`),
  };
  const tooMany = {
    "4,000,000 tools": `"tools":${list(4_000_000, () => "0")}`,
    "50,001 tools": `"tools":${list(50_001, () => "0")}`,
    "600,000 keys": `"metadata":{${keys(600_000, (index) => `"${hash(index)}":1`)}}`,
    "500,000 unknown fields": keys(500_000, (index) => `"${hash(index)}":1`),
    "100,000 mcpServers": `"mcpServers":${list(100_000, (index) => `{"name":"${index}","transport":"stdio","command":"x"}`)}`,
    "4,000,000 numbers": metadata(list(4_000_000, () => "0")),
    "2,700,000 empty objects": metadata(list(2_700_000, () => "{}")),
    "4,000,000 levels": metadata(`${"[".repeat(4_000_000)}${"]".repeat(4_000_000)}`),
  };
  return [...toBodies(accepted, 202), ...toBodies(refused, 400), ...toBodies(tooMany, 413)];
}

const parseDispatch = createDispatchParser([]);

/** Processes a body like the dispatch route, and returns the status of the response. */
export function readBody(bytes: Buffer): number {
  try {
    parseDispatch(checkJson(bytes).parse(), { defaultProfile: "inspect" });
    return 202;
  } catch (error) {
    if (error instanceof BridgeError) return error.httpStatus;
    throw error;
  }
}

function toBodies(fields: Record<string, string>, status: HostileBody["status"]): HostileBody[] {
  return Object.entries(fields).map(([name, text]) => {
    const message = text.includes('"message"') ? "" : '"message":"Hello.",';
    const bytes = Buffer.from(`{"provider":"noop","agentId":"a",${message}${text}}`);
    if (bytes.length > BODY_LIMIT_BYTES) throw new Error(`${name} is larger than BRIDGE_BODY_LIMIT: ${bytes.length}`);
    return { name, bytes, status };
  });
}

const list = (count: number, entry: (index: number) => string): string => `[${keys(count, entry)}]`;
const keys = (count: number, entry: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => entry(index)).join(",");
const metadata = (value: string): string => `"metadata":{"a":${value}}`;
const systemPrompt = (unit: string, bytes: number): string =>
  `"systemPrompt":"${unit.repeat(Math.floor((BODY_LIMIT_BYTES - 200) / bytes))}"`;
/** Unsorted names, which are more expensive to store and to sort. */
const hash = (index: number): string =>
  Math.imul(index + 1, 0x9e3779b1)
    .toString(36)
    .padStart(7, "k");
