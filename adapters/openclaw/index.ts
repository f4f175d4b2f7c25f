import type { ExecutionAdapter } from "#contract";
import { createCallStore } from "../shared/declared-tools/call-store.ts";
import type { AdapterContext } from "./adapter-context.ts";
import { createCapabilities } from "./capabilities.ts";
import { createCommandSweep } from "./command-sweep.ts";
import { createGateway } from "./gateway.ts";
import { checkGatewayHealth } from "./health.ts";
import { readAgents } from "./manage/agent-records.ts";
import { createManagers, type Managers } from "./manage/create-managers.ts";
import type { ManageContext } from "./manage/manage-context.ts";
import { retryAfterReconnect } from "./retry-after-reconnect.ts";
import { openSessionKeys } from "./session-keys.ts";
import { openClawSettingsSchema } from "./settings.ts";
import { stopOrphanedRuns } from "./stop-orphaned-runs.ts";
import { createTaskMcpServers } from "./task-mcp-servers.ts";
import { createTasks } from "./tasks.ts";

/**
 * Runs tasks on the agents of an OpenClaw gateway, and manages the gateway. In this directory, "gateway" means OpenClaw's daemon, to which
 * the adapter connects over a WebSocket.
 */
export function createOpenClawAdapter(): Required<ExecutionAdapter> & Managers {
  let activeContext: (AdapterContext & { stopWatching(): void }) | null = null;
  let closing = new AbortController();
  let audit: Promise<unknown> = Promise.resolve();
  const { isSessionInUse, cancelAll, ...tasks } = createTasks(() => activeContext);
  const managers = createManagers(() => (activeContext === null ? null : createManageContext(activeContext, closing.signal)));

  return {
    provider: "openclaw",

    async initialize(config) {
      closing = new AbortController();
      const settings = openClawSettingsSchema.parse(config.settings);
      const keys = await openSessionKeys(config.dataDir);
      const gateway = createGateway({ url: settings.url, token: settings.token, lookup: config.lookup, logger: config.logger });
      const stopOrphanWatch = stopOrphanedRuns({ gateway, logger: config.logger, isOurs: keys.isOurs, isSessionInUse });
      const shutdownSignal = closing.signal;
      const context = { ...createManageContext({ config, settings, gateway }, shutdownSignal), gateway, shutdownSignal };
      const servers = createTaskMcpServers(context, keys.bridgeId, config.logger);
      const readWorkspaces = async () => (await readAgents(context)).agents.flatMap(({ workspace }) => workspace ?? []);
      const commands = settings.workspace === "bridge" ? createCommandSweep({ ...config, readWorkspaces }) : null;
      const stopSweeping = gateway.onConnected(() => {
        retryAfterReconnect({ gateway, signal: shutdownSignal }, servers.sweep).catch((error: unknown) =>
          config.logger.debug({ reason: String(error) }, "failed to remove the MCP servers of ended tasks"),
        );
        commands?.sweepEarlier().catch((error: unknown) => {
          config.logger.warn({ reason: String(error) }, "failed to sweep the commands of earlier tasks");
        });
      });
      const stopWatching = (): void => {
        stopOrphanWatch();
        stopSweeping();
      };
      const openCalls = createCallStore(config.dataDir, config.retentionDays);
      activeContext = { config, settings, keys, gateway, servers, openCalls, commands, stopWatching };
    },

    async shutdown() {
      const previous = activeContext;
      activeContext = null;
      closing.abort();
      await Promise.all([cancelAll(), audit]);
      await previous?.servers.close();
      previous?.stopWatching();
      await previous?.gateway.close();
    },

    async checkHealth() {
      if (activeContext !== null) {
        const { openCalls, config } = activeContext;
        await openCalls.sweep().catch((err: unknown) => config.logger.warn({ err }, "failed to remove old open tool calls"));
        return await checkGatewayHealth(activeContext);
      }
      return { status: "offline", connection: null, version: null, detail: "The openclaw adapter is not running.", preflight: [] };
    },

    capabilities: () => createCapabilities(activeContext?.settings ?? openClawSettingsSchema.parse({})),

    ...tasks,
    ...managers,
    getSecurityPosture(call) {
      const posture = managers.getSecurityPosture(call);
      // Lets shutdown() wait until the audit program has ended.
      audit = posture.catch(() => {});
      return posture;
    },
  };
}

function createManageContext(
  { config, settings, gateway }: Pick<AdapterContext, "config" | "settings" | "gateway">,
  shutdownSignal: AbortSignal,
): ManageContext {
  const { env, dataDir, sandbox, onOrphansKilled } = config;
  return {
    gateway,
    env,
    dataDir,
    sandbox,
    onOrphansKilled,
    shutdownSignal,
    stateDir: settings.stateDir ?? null,
    command: settings.command ?? null,
  };
}

export { createOpenClawAdapter as createAdapter };
