import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type NodeIncomingMessageLike, toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, Server } from "@modelcontextprotocol/server";
import type { NormalizedTool } from "#contract";
import packageJson from "../../../package.json" with { type: "json" };
import type { CallAnswer } from "./call-gate.ts";

/** Maximum size of a request, which contains the input of one call. */
const MAX_REQUEST_BYTES = 4 * 1024 ** 2;

/** The tools of a server, by their names for the program. */
export interface ServedTools {
  tools: ReadonlyMap<string, NormalizedTool>;
  call(toolName: string, input: unknown): Promise<CallAnswer>;
}

export type ToolServer = Awaited<ReturnType<typeof openToolServer>>;

/** Opens the MCP server of one task on the loopback interface. It serves tools over Streamable HTTP to clients with the bearer token. */
export async function openToolServer(served: ServedTools) {
  const secret = randomBytes(32).toString("base64url");
  let isListed = false;
  const onListed = (): void => {
    isListed = true;
  };
  const handler = createMcpHandler(() => createProtocolServer(served, onListed), { maxRequestBodySize: MAX_REQUEST_BYTES });
  const answer = toNodeHandler(handler, { maxRequestBodySize: MAX_REQUEST_BYTES });
  const listener = createServer((request, response) => {
    if (!isEqual(request.headers.authorization ?? "", `Bearer ${secret}`)) rejectUnauthorized(response);
    else answer(request as NodeIncomingMessageLike, response).catch(() => response.destroy());
  });
  // A program may close its sending side after its request. Node's types do not include this property.
  Object.assign(listener, { httpAllowHalfOpen: true });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    /** The bearer token that every request needs. */
    secret,
    /** True if a client has read the list of tools. */
    get isListed(): boolean {
      return isListed;
    },
    /** Resolves when the port is free and all connections are closed. */
    async close(): Promise<void> {
      const closed = once(listener, "close");
      listener.close();
      listener.closeAllConnections();
      await Promise.all([closed, handler.close()]);
    },
  };
}

/** Creates the protocol server of one request. It is stateless, so there are no sessions. */
function createProtocolServer({ tools, call }: ServedTools, onListed: () => void): Server {
  const server = new Server({ name: packageJson.name, version: packageJson.version }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => {
    onListed();
    return { tools: [...tools].map(describeTool) };
  });
  server.setRequestHandler("tools/call", async ({ params }) => {
    const tool = tools.get(params.name);
    const { text, isError } =
      tool === undefined
        ? { text: `Unknown tool: ${params.name.slice(0, 200)}.`, isError: true }
        : await call(tool.name, params.arguments ?? {});
    return { content: [{ type: "text" as const, text }], isError };
  });
  return server;
}

const describeTool = ([name, { description, inputSchema }]: [string, NormalizedTool]) => ({
  name,
  description,
  inputSchema: { ...inputSchema, type: "object" as const },
  // A call changes nothing on this host, so programs may make several at once and need no approval.
  annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
});

const rejectUnauthorized = (response: ServerResponse): void => void response.writeHead(401, { connection: "close" }).end();

/** Tokens are compared by their hashes, so that the comparison time reveals nothing. */
const isEqual = (one: string, other: string): boolean => timingSafeEqual(hashOf(one), hashOf(other));
const hashOf = (text: string): Buffer => hash("sha256", text, "buffer");
