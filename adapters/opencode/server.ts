import { Agent } from "undici";
import { z } from "zod";
import { stringifyWellFormed } from "#contract";
import type { PermissionReply } from "./answer-permission.ts";
import { readEventStream } from "./event-stream.ts";
import { AGENT_NAME, matchesPermissions, type Permissions, type Rule } from "./permissions.ts";

/** Time limit per HTTP call. Long operations report through events. */
const CALL_LIMIT_MS = 30_000;
/** Time for the server to record an abort in the session; Bridge then stops the server. */
const ABORT_LIMIT_MS = 500;

/** An error response of the server. */
class ServerFailure extends Error {
  readonly httpStatus: number;
  constructor(request: string, httpStatus: number, body: string) {
    super(`OpenCode returned HTTP ${httpStatus} for ${request}: ${body.slice(0, 500)}`);
    this.httpStatus = httpStatus;
  }
}

const notFound = Symbol("not found");

function returnNotFound(error: unknown): typeof notFound {
  if (error instanceof ServerFailure && error.httpStatus === 404) return notFound;
  throw error;
}

/** A client of the server of one task. */
export interface OpenCodeServer {
  /** Resolves when the first event arrives; `ended` settles when the event stream ends. */
  follow(onEvent: (event: unknown) => void): Promise<{ ended: Promise<void> }>;
  /** Rejects unless Bridge's agent exists with exactly these permissions. */
  checkAgent(permissions: Permissions): Promise<void>;
  createSession(): Promise<string>;
  hasSession(id: string): Promise<boolean>;
  prompt(sessionId: string, body: Record<string, unknown>): Promise<void>;
  /** Replies to a permission request; ignores one that no longer exists. */
  replyPermission(permissionId: string, reply: PermissionReply): Promise<void>;
  /** Aborts the session; never rejects. */
  abort(sessionId: string): Promise<void>;
  close(): Promise<void>;
}

const agentsSchema = z.array(
  z.object({ name: z.string(), permission: z.array(z.object({ permission: z.string(), pattern: z.string(), action: z.string() })) }),
);

/** The address of a server on the loopback interface, and the directory that it works in. */
export interface ServerAddress {
  origin: string;
  password: string;
  directory: string;
}

/** Creates a client for the server of one task. It ignores proxy settings. */
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
      ...(body === undefined ? {} : { body: stringifyWellFormed(body) }),
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
      const found = agentsSchema.parse(await call("GET", "/agent")).find(({ name }) => name === AGENT_NAME);
      const rules: readonly Rule[] = found?.permission ?? [];
      if (!matchesPermissions(rules, permissions)) throw new Error("OpenCode did not apply the task's permissions from its configuration.");
    },
    async createSession() {
      // Without a title OpenCode would call a model to generate one.
      return z.object({ id: z.string() }).parse(await call("POST", "/session", { title: "Bridge" })).id;
    },
    async hasSession(id) {
      return (await call("GET", `/session/${encodeURIComponent(id)}`).catch(returnNotFound)) !== notFound;
    },
    async prompt(sessionId, body) {
      await call("POST", `/session/${sessionId}/prompt_async`, body);
    },
    async replyPermission(permissionId, reply) {
      await call("POST", `/permission/${permissionId}/reply`, reply).catch(returnNotFound);
    },
    async abort(sessionId) {
      await call("POST", `/session/${sessionId}/abort`, undefined, ABORT_LIMIT_MS).catch(() => {});
    },
    close: () => agent.destroy(),
  };
}
