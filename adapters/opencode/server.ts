import { Agent } from "undici";
import { z } from "zod";
import type { Reply } from "./answer-permission.ts";
import { readEventStream } from "./event-stream.ts";
import { agentName, areAsAsked, type Permissions, type Rule } from "./permissions.ts";

/** No single call takes that long: what takes its time is told by events. */
const CALL_LIMIT_MS = 30_000;
/** How long a server that is stopped anyway may take to note it in the session. */
const ABORT_LIMIT_MS = 500;

/** What the server answered instead of what was asked for. */
class ServerFailure extends Error {
  readonly httpStatus: number;
  constructor(what: string, httpStatus: number, body: string) {
    super(`OpenCode answered ${what} with ${httpStatus}: ${body.slice(0, 500)}`);
    this.httpStatus = httpStatus;
  }
}

const notFound = Symbol("not found");

function unlessNotFound(error: unknown): typeof notFound {
  if (error instanceof ServerFailure && error.httpStatus === 404) return notFound;
  throw error;
}

/** A client of the server of one task. */
export interface OpenCodeServer {
  /** Resolves when the events begin to come in; `ended` settles when they no longer do. */
  follow(onEvent: (event: unknown) => void): Promise<{ ended: Promise<void> }>;
  /** Rejects unless our agent is there with just these rules. */
  checkAgent(permissions: Permissions): Promise<void>;
  createSession(): Promise<string>;
  hasSession(id: string): Promise<boolean>;
  prompt(sessionId: string, body: Record<string, unknown>): Promise<void>;
  /** A question that nobody asks any more is answered all the same. */
  replyPermission(permissionId: string, reply: Reply): Promise<void>;
  /** Stops what the session does; never rejects. */
  abort(sessionId: string): Promise<void>;
  close(): Promise<void>;
}

const agentsSchema = z.array(
  z.object({ name: z.string(), permission: z.array(z.object({ permission: z.string(), pattern: z.string(), action: z.string() })) }),
);

/** Where a server listens on the loopback interface, and in which directory it is to work. */
export interface ServerAddress {
  origin: string;
  password: string;
  directory: string;
}

/** Makes a client of the server of one task; nothing of a proxy's comes in between. */
export function createServerClient({ origin, password, directory }: ServerAddress): OpenCodeServer {
  const agent = new Agent({ bodyTimeout: 0, headersTimeout: CALL_LIMIT_MS });
  const headers = {
    authorization: `Basic ${Buffer.from(`opencode:${password}`).toString("base64")}`,
    "x-opencode-directory": encodeURIComponent(directory),
  };

  async function call(method: "GET" | "POST", path: string, body?: object, limitMs = CALL_LIMIT_MS): Promise<unknown> {
    const response = await agent.request({
      origin,
      method,
      path,
      headers: { ...headers, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(limitMs),
    });
    const text = await response.body.text();
    if (response.statusCode >= 300) throw new ServerFailure(`${method} ${path}`, response.statusCode, text);
    return text === "" ? null : JSON.parse(text);
  }

  return {
    async follow(onEvent) {
      const { statusCode, body } = await agent.request({ origin, method: "GET", path: "/event", headers });
      if (statusCode !== 200) throw new ServerFailure("GET /event", statusCode, await body.text());
      const started = Promise.withResolvers<void>();
      const ended = readEventStream(body, (event) => {
        started.resolve();
        onEvent(event);
      });
      await Promise.race([started.promise, ended]);
      return { ended };
    },
    async checkAgent(permissions) {
      const found = agentsSchema.parse(await call("GET", "/agent")).find(({ name }) => name === agentName);
      const rules: readonly Rule[] = found?.permission ?? [];
      if (!areAsAsked(rules, permissions)) throw new Error("OpenCode did not take the rules of the task from its configuration.");
    },
    async createSession() {
      // Without a title a model would be asked for one.
      return z.object({ id: z.string() }).parse(await call("POST", "/session", { title: "Bridge" })).id;
    },
    async hasSession(id) {
      return (await call("GET", `/session/${encodeURIComponent(id)}`).catch(unlessNotFound)) !== notFound;
    },
    async prompt(sessionId, body) {
      await call("POST", `/session/${sessionId}/prompt_async`, body);
    },
    async replyPermission(permissionId, reply) {
      await call("POST", `/permission/${permissionId}/reply`, reply).catch(unlessNotFound);
    },
    async abort(sessionId) {
      await call("POST", `/session/${sessionId}/abort`, undefined, ABORT_LIMIT_MS).catch(() => {});
    },
    close: () => agent.destroy(),
  };
}
