import type { ExecutionAdapter } from "#contract";
import { createCallStore } from "../shared/declared-tools/call-store.ts";
import { capabilitiesOf } from "./capabilities.ts";
import { createCommandSweep } from "./command-sweep.ts";
import { createGateway } from "./gateway.ts";
import { checkGateway } from "./health.ts";
import { createLentServers } from "./lent-servers.ts";
import { readAgents } from "./manage/agent-records.ts";
import { createManagers, type Managers } from "./manage/create-managers.ts";
import type { ManageContext } from "./manage/manage-context.ts";
import type { OpenedGateway } from "./opened-gateway.ts";
import { overBreaks } from "./over-breaks.ts";
import { openSessionKeys } from "./session-keys.ts";
import { openClawSettingsSchema } from "./settings.ts";
import { watchStrays } from "./stray-runs.ts";
import { createTasks } from "./tasks.ts";

/** Runs tasks on the agents of an OpenClaw gateway, and manages it. */
export function createOpenClawAdapter(): Required<ExecutionAdapter> & Managers {
  let opened: (OpenedGateway & { endWatch(): void }) | null = null;
  let closing = new AbortController();
  let audit: Promise<unknown> = Promise.resolve();
  const { isFollowed, cancelAll, ...tasks } = createTasks(() => opened);
  const managers = createManagers(() => (opened === null ? null : manageContext(opened, closing.signal)));

  return {
    provider: "openclaw",

    async initialize(config) {
      closing = new AbortController();
      const settings = openClawSettingsSchema.parse(config.settings);
      const keys = await openSessionKeys(config.dataDir);
      const gateway = createGateway({ url: settings.url, token: settings.token, lookup: config.lookup, logger: config.logger });
      const endWatch = watchStrays({ gateway, logger: config.logger, isOurs: keys.isOurs, isFollowed });
      const closed = closing.signal;
      const context = { ...manageContext({ config, settings, gateway }, closed), gateway, closed };
      const servers = createLentServers(context, keys.bridgeId, config.logger);
      const readWorkspaces = async () => (await readAgents(context)).agents.flatMap(({ workspace }) => workspace ?? []);
      const commands = settings.workspace === "bridge" ? createCommandSweep({ ...config, readWorkspaces }) : null;
      const endSweep = gateway.onConnected(() => {
        overBreaks({ gateway, signal: closed }, servers.sweep).catch((error: unknown) =>
          config.logger.debug({ reason: String(error) }, "could not look for MCP servers of ended tasks"),
        );
        commands?.sweepEarlier().catch((error: unknown) => {
          config.logger.warn({ reason: String(error) }, "could not look for commands that OpenClaw has left behind");
        });
      });
      const endBoth = (): void => {
        endWatch();
        endSweep();
      };
      const openCalls = createCallStore(config.dataDir, config.retentionDays);
      opened = { config, settings, keys, gateway, servers, openCalls, commands, endWatch: endBoth };
    },

    async shutdown() {
      const was = opened;
      opened = null;
      closing.abort();
      await Promise.all([cancelAll(), audit]);
      await was?.servers.close();
      was?.endWatch();
      await was?.gateway.close();
    },

    async checkHealth() {
      if (opened !== null) {
        const { openCalls, config } = opened;
        await openCalls.sweep().catch((err: unknown) => config.logger.warn({ err }, "failed to remove old open tool calls"));
        return await checkGateway(opened);
      }
      return { status: "offline", connection: null, version: null, detail: "The openclaw adapter is not running.", preflight: [] };
    },

    capabilities: () => capabilitiesOf(opened?.settings ?? openClawSettingsSchema.parse({})),

    ...tasks,
    ...managers,
    getSecurityPosture(call) {
      const posture = managers.getSecurityPosture(call);
      // Its program ends with the adapter.
      audit = posture.catch(() => {});
      return posture;
    },
  };
}

function manageContext(
  { config, settings, gateway }: Pick<OpenedGateway, "config" | "settings" | "gateway">,
  closed: AbortSignal,
): ManageContext {
  const { env, dataDir, sandbox, onOrphansKilled } = config;
  return {
    gateway,
    env,
    dataDir,
    sandbox,
    onOrphansKilled,
    closed,
    stateDir: settings.stateDir ?? null,
    command: settings.command ?? null,
  };
}

export { createOpenClawAdapter as createAdapter };
