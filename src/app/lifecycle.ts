import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { getProcessLabels, sweepLeftovers } from "../../adapters/index.ts";
import type { Tokens } from "../access/tokens.ts";
import { listDifferingNodes } from "../cluster/node-directory.ts";
import type { Config } from "../config/config.ts";
import { toSignInPath } from "../http/routes/sessions.ts";
import type { Metrics } from "../metrics.ts";
import { limitResponseOverhead } from "../network/limit-response-overhead.ts";
import { toPublicUrl } from "../network/public-url.ts";
import { skipContinueResponses } from "../network/skip-continue.ts";
import type { LoadedAdapter } from "../registry/adapter-registry.ts";
import { createRetention } from "../store/maintenance/retention-timer.ts";
import type { Endpoints } from "./endpoints.ts";
import type { Engine } from "./engine.ts";
import type { Environment, OpenedSandbox } from "./sandbox.ts";
import { suggestAdapters } from "./suggest-adapters.ts";

/** The parts of Bridge that the lifecycle starts and closes, and its environment. */
interface LifecycleOptions {
  engine: Engine;
  endpoints: Endpoints;
  sandbox: OpenedSandbox;
  loaded: readonly LoadedAdapter[];
  tokens: Pick<Tokens, "close" | "findOwn">;
  environment: Environment;
  metrics: Metrics;
  logger: Logger;
  version: string;
}

/** Creates the functions that start and close Bridge, each as a sequence of steps. */
export function createLifecycle(config: Config, options: LifecycleOptions) {
  const { engine, endpoints, sandbox, loaded, tokens, environment, metrics, logger, version } = options;
  const { store, workspaces, dispatcher, membership } = engine;
  const closing = new AbortController();
  const stopLimiting = limitResponseOverhead();
  const stopSkipping = skipContinueResponses();
  let retention: ReturnType<typeof createRetention> | undefined;
  let startup: Promise<string> | undefined;
  let suggestion: Promise<void> | undefined;

  async function start(): Promise<string> {
    await endpoints.server.listen({ host: config.host, port: config.port });
    const address = formatAddress(endpoints.server);
    logger.info(
      { address, docs: `${address}/docs`, version, adapters: loaded.map(({ provider }) => provider), dataDir: config.dataDir },
      "listening",
    );
    await warnOfMissingIsolation(config, options);
    await membership.join(closing.signal);
    try {
      await startAsMember();
    } catch (error) {
      // Otherwise each start that fails would renew the lease, and no node would end the tasks of this one.
      await membership.leave();
      throw error;
    }
    return address;
  }

  async function startAsMember(): Promise<void> {
    const removeLeftovers = await clearLeftovers();
    await engine.view.refresh();
    warnOfDifferingSettings(engine, logger);
    // A webhook gets the events after its first start, which include the ends of the interrupted tasks.
    await engine.webhooks.start();
    await engine.traces?.start();
    await engine.treeSweep.start();
    await dispatcher.recover();
    await endpoints.open();
    store.checkPages().catch((error: unknown) => logger.warn({ err: error }, "the database could not be checked for damage"));
    void removeLeftovers().then((errors) => {
      for (const err of closing.signal.aborted ? [] : errors)
        logger.error({ err }, "failed to remove the temporary directory of an earlier task");
    });
    engine.callbackWorker.start();
    retention = createRetention({ store, days: config.retentionDays, logger });
    // In the background, because a runtime that is slow to answer delays only its own tasks.
    void engine.startAdapters();
  }

  /**
   * Kills processes that an earlier Bridge left behind, and sets its temporary directories aside. Only a node that has joined does this,
   * because its path can be the former path of a live node, whose runtimes look like leftovers.
   */
  async function clearLeftovers(): Promise<() => Promise<unknown[]>> {
    metrics.orphansKilled.inc((await sweepLeftovers({ dataDir: config.dataDir })).killed);
    return await workspaces.setAsideLeftovers();
  }

  /** Ends the tasks, and keeps the port until load balancers send their requests to other nodes. */
  async function drain(): Promise<void> {
    const drained = dispatcher.drain();
    await membership.drain(config.drainSeconds * 1000);
    await drained;
    dispatcher.endWaits();
  }

  return {
    start() {
      startup = start();
      return startup;
    },
    createSignInUrl: () => createSignInUrl(config, { tokens, endpoints }),
    suggestAdapters() {
      suggestion = suggestAdapters(config, { loaded, environment, sandbox, logger, signal: closing.signal });
      return suggestion;
    },
    async close() {
      closing.abort();
      // Bridge can be stopped while it starts; the start still uses everything that is closed here.
      await startup?.catch(() => {});
      await drain();
      await engine.view.close();
      await endpoints.close();
      tokens.close();
      await Promise.all([retention?.close(), engine.treeSweep.close()]);
      await engine.registry.close();
      await engine.guardedFetch.close();
      await engine.schemas.close();
      engine.budgets.close();
      await Promise.all([engine.callbackWorker.close(), engine.webhooks.close(), engine.traces?.close()]);
      stopLimiting();
      stopSkipping();
      await engine.eventLog.close();
      await membership.leave();
      await store.close();
      await suggestion;
    },
  };
}

function warnOfDifferingSettings(engine: Pick<Engine, "nodes">, logger: Logger): void {
  const nodes = listDifferingNodes(engine.nodes);
  if (nodes.length > 0) logger.warn({ nodes }, "settings that should be equal on all nodes differ from those of other nodes");
}

async function warnOfMissingIsolation(
  { sandbox: setting }: Pick<Config, "sandbox">,
  { sandbox: { sandbox, missing }, logger }: Pick<LifecycleOptions, "sandbox" | "logger">,
): Promise<void> {
  if (missing !== null) logger.warn({ setting, reason: missing }, "runtimes run without a sandbox");
  const labels = await getProcessLabels();
  if (sandbox === null && "missing" in labels) {
    logger.warn({ reason: labels.missing }, "processes that leave their session and clear their environment can outlive their task");
  }
}

/** Returns the address of the console with a ticket of the operator's token; null if the tokens file has all tokens. */
async function createSignInUrl(
  { publicUrl }: Pick<Config, "publicUrl">,
  { tokens, endpoints }: Pick<LifecycleOptions, "tokens" | "endpoints">,
): Promise<string | null> {
  const principal = tokens.findOwn();
  if (principal === null) return null;
  const { ticket } = await endpoints.tickets.issue(principal, { purpose: "signIn" });
  return toPublicUrl(publicUrl ?? formatAddress(endpoints.server), toSignInPath(ticket));
}

/** Returns the address on which the server listens. Fastify itself reports a loopback address if the server listens on all interfaces. */
function formatAddress(server: FastifyInstance): string {
  const { family, address, port } = server.server.address() as AddressInfo;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
