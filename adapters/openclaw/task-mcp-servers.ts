import { randomBytes } from "node:crypto";
import { createTurns } from "@hak2i/async-kit";
import type { AdapterLogger, McpServerSpec } from "#contract";
import type { Gateway } from "./gateway.ts";
import { GatewayError } from "./gateway-error.ts";
import { changeConfig, readConfig } from "./manage/gateway-config.ts";
import type { ManageContext } from "./manage/manage-context.ts";
import { retryAfterReconnect } from "./retry-after-reconnect.ts";

type McpServersContext = ManageContext & { gateway: Gateway; shutdownSignal: AbortSignal };

/** MCP servers of tasks. The gateway accepts MCP servers only in its configuration, so Bridge adds them there while the task runs. */
export interface TaskMcpServers {
  /**
   * Adds servers to the gateway's configuration under unique names and returns the names. The servers are disabled; a session uses one only
   * after `sessions.patch` enables it there. Rejects with a GatewayError.
   */
  add(servers: readonly McpServerSpec[]): Promise<string[]>;
  /** Removes servers, in the background. */
  remove(names: readonly string[]): void;
  /** Removes the servers that this Bridge left in the configuration when it was killed. */
  sweep(): Promise<void>;
  /** Resolves when all pending removals have completed or failed. */
  close(): Promise<void>;
}

/** Creates the manager of the tasks' MCP servers in one gateway. `bridgeId` identifies the servers of this Bridge. */
export function createTaskMcpServers(context: McpServersContext, bridgeId: string, logger: AdapterLogger): TaskMcpServers {
  // Keep the prefix short: server names are part of every tool name.
  const prefix = `br${bridgeId.slice(0, 6)}`;
  const wantedServers = new Map<string, object>();
  const writtenNames = new Set<string>();
  const turns = createTurns();
  let currentFlush: Promise<void> | null = null;
  let nextFlush: Promise<void> | null = null;

  /** Writes all pending changes at once, because the gateway accepts only 30 writes per minute. */
  function flush(): Promise<void> {
    if (currentFlush === null) {
      currentFlush = write().finally(() => {
        currentFlush = null;
      });
      return currentFlush;
    }
    nextFlush ??= currentFlush
      .catch(() => {})
      .then(() => {
        nextFlush = null;
        return flush();
      });
    return nextFlush;
  }

  async function write(): Promise<void> {
    const added = [...wantedServers].filter(([name]) => !writtenNames.has(name));
    const removed = [...writtenNames].filter((name) => !wantedServers.has(name));
    if (added.length + removed.length === 0) return;
    // Recorded before the write, so that servers of a write with an unknown outcome are removed, too.
    for (const [name] of added) writtenNames.add(name);
    const servers = Object.fromEntries([...added, ...removed.map((name) => [name, null] as const)]);
    try {
      await changeConfig(context, () => ({ mcp: { servers } }));
    } catch (error) {
      if (!mayHaveBeenWritten(error)) for (const [name] of added) writtenNames.delete(name);
      throw error;
    }
    for (const name of removed) writtenNames.delete(name);
  }

  async function addServers(servers: readonly McpServerSpec[]): Promise<string[]> {
    const nonce = randomBytes(3).toString("hex");
    const namedServers = servers.map((server) => [`${prefix}${nonce}-${server.name}`, toConfig(server)] as const);
    for (const [name, server] of namedServers) wantedServers.set(name, server);
    const names = namedServers.map(([name]) => name);
    try {
      await flush();
      return names;
    } catch (error) {
      remove(names);
      throw error;
    }
  }

  function remove(names: readonly string[]): void {
    for (const name of names) wantedServers.delete(name);
    retryAfterReconnect({ gateway: context.gateway, signal: context.shutdownSignal }, flush).catch((error: unknown) =>
      logger.warn({ reason: String(error) }, "failed to remove MCP servers of ended tasks from the configuration"),
    );
  }

  return {
    async add(servers) {
      try {
        return await addServers(servers);
      } catch (error) {
        if (!(error instanceof GatewayError) || error.code !== "INVALID_REQUEST") throw error;
        // The gateway may have rejected servers of another task in the same write, so write these alone.
        return await turns.take("add", () => addServers(servers));
      }
    },
    remove,
    async sweep() {
      const { sourceConfig } = await readConfig(context);
      const pattern = new RegExp(`^${prefix}[0-9a-f]{6}-`);
      for (const name of Object.keys(sourceConfig.mcp?.servers ?? {})) if (pattern.test(name)) writtenNames.add(name);
      await flush();
    },
    async close() {
      await Promise.allSettled([flush()]);
    },
  };
}

/** Returns whether a failed write may have changed the configuration. */
const mayHaveBeenWritten = (error: unknown): boolean =>
  error instanceof GatewayError && !error.isBusy && ["TIMEOUT", "DISCONNECTED", "UNAVAILABLE"].includes(error.code);

function toConfig(server: McpServerSpec): object {
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

/** Escapes `${NAME}`, which the gateway would replace by a variable of its environment, possibly a secret. */
const escapeVariables = (value: string): string => value.replaceAll(/\$\{[A-Z_][A-Z0-9_]*\}/g, "$$$&");
const escapeValues = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, escapeVariables(value)]));
