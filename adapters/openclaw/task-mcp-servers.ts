import { randomBytes } from "node:crypto";
import { createTurns } from "@hak2i/async-kit";
import type { AdapterLogger, McpServerSpec } from "#contract";
import type { Gateway } from "./gateway.ts";
import { GatewayError } from "./gateway-error.ts";
import { changeConfig, readConfig } from "./manage/gateway-config.ts";
import type { ManageContext } from "./manage/manage-context.ts";
import { retryAfterReconnect } from "./retry-after-reconnect.ts";

type McpServersContext = ManageContext & { gateway: Gateway; closed: AbortSignal };

/** MCP servers of tasks in a gateway that knows only servers of its own. */
export interface TaskMcpServers {
  /**
   * Puts servers into the gateway's configuration, disabled, under names that no other task has: only a session that is told to use one does.
   * Answers their names; rejects with the gateway's refusal.
   */
  lend(servers: readonly McpServerSpec[]): Promise<string[]>;
  /** Takes them out again, in the background. */
  giveBack(names: readonly string[]): void;
  /** Takes out what a Bridge of the same name has left behind when it was killed. */
  sweep(): Promise<void>;
  /** Resolves when all that was given back is taken out, or cannot be now. */
  close(): Promise<void>;
}

/** Opens the loans of one gateway. `bridgeId` tells the servers of this Bridge from those of others and of the operator. */
export function createTaskMcpServers(context: McpServersContext, bridgeId: string, logger: AdapterLogger): TaskMcpServers {
  // Short, because the name stands before that of every tool.
  const prefix = `br${bridgeId.slice(0, 6)}`;
  const wanted = new Map<string, object>();
  const written = new Set<string>();
  const turns = createTurns();
  let flushing: Promise<void> | null = null;
  let next: Promise<void> | null = null;

  /** One write for all that is wanted by then: the gateway takes thirty in a minute. */
  function flush(): Promise<void> {
    if (flushing === null) {
      flushing = write().finally(() => {
        flushing = null;
      });
      return flushing;
    }
    next ??= flushing
      .catch(() => {})
      .then(() => {
        next = null;
        return flush();
      });
    return next;
  }

  async function write(): Promise<void> {
    const added = [...wanted].filter(([name]) => !written.has(name));
    const removed = [...written].filter((name) => !wanted.has(name));
    if (added.length + removed.length === 0) return;
    // Remembered before it is sure: what was perhaps written is taken out all the same.
    for (const [name] of added) written.add(name);
    const servers = Object.fromEntries([...added, ...removed.map((name) => [name, null] as const)]);
    try {
      await changeConfig(context, () => ({ mcp: { servers } }));
    } catch (error) {
      if (!mayHaveBeenWritten(error)) for (const [name] of added) written.delete(name);
      throw error;
    }
    for (const name of removed) written.delete(name);
  }

  async function put(servers: readonly McpServerSpec[]): Promise<string[]> {
    const nonce = randomBytes(3).toString("hex");
    const named = servers.map((server) => [`${prefix}${nonce}-${server.name}`, describe(server)] as const);
    for (const [name, server] of named) wanted.set(name, server);
    const names = named.map(([name]) => name);
    try {
      await flush();
      return names;
    } catch (error) {
      giveBack(names);
      throw error;
    }
  }

  function giveBack(names: readonly string[]): void {
    for (const name of names) wanted.delete(name);
    retryAfterReconnect({ gateway: context.gateway, signal: context.closed }, flush).catch((error: unknown) =>
      logger.warn({ reason: String(error) }, "MCP servers of ended tasks are still in OpenClaw's configuration"),
    );
  }

  return {
    async lend(servers) {
      try {
        return await put(servers);
      } catch (error) {
        if (!(error instanceof GatewayError) || error.code !== "INVALID_REQUEST") throw error;
        // Perhaps for the servers of another task that were written with these.
        return await turns.take("put", () => put(servers));
      }
    },
    giveBack,
    async sweep() {
      const { sourceConfig } = await readConfig(context);
      const pattern = new RegExp(`^${prefix}[0-9a-f]{6}-`);
      for (const name of Object.keys(sourceConfig.mcp?.servers ?? {})) if (pattern.test(name)) written.add(name);
      await flush();
    },
    async close() {
      await Promise.allSettled([flush()]);
    },
  };
}

/** Is what was to be written perhaps there, though the gateway has not said so? */
const mayHaveBeenWritten = (error: unknown): boolean =>
  error instanceof GatewayError && !error.isBusy && ["TIMEOUT", "DISCONNECTED", "UNAVAILABLE"].includes(error.code);

function describe(server: McpServerSpec): object {
  if (server.transport === "stdio") {
    const { command, args = [], env = {} } = server;
    return { enabled: false, command: escapeVariables(command), args: args.map(escapeVariables), env: escapeValues(env) };
  }
  const { url, headers = {}, transport } = server;
  return {
    enabled: false,
    url: escapeVariables(url),
    headers: escapeValues(headers),
    transport: transport === "http" ? "streamable-http" : "sse",
  };
}

/** In its configuration the gateway puts variables of its own environment, secrets among them, in the place of `${NAME}`. */
const escapeVariables = (value: string): string => value.replaceAll(/\$\{[A-Z_][A-Z0-9_]*\}/g, "$$$&");
const escapeValues = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, escapeVariables(value)]));
