import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { GatewayError } from "../gateway-error.ts";
import { readDefaultAgent } from "./agent-records.ts";
import { waitUntilApplied } from "./gateway-config.ts";
import { callGateway, callGatewayForWrite, type ManageContext } from "./manage-context.ts";

const READY_LIMIT_MS = 10_000;
const RETRY_MS = 250;

const modelsSchema = z.object({ models: z.array(z.looseObject({ id: z.string(), provider: z.string() })) });
const reloadedSchema = z.object({ warningCount: z.number().default(0) });
const authSchema = z.object({ providers: z.array(z.object({ provider: z.string(), status: z.string() })) });

/** Waits until the gateway, which watches its configuration file, has applied the configuration. Then makes it reload its secrets. */
export async function reloadConfig(context: ManageContext): Promise<{ detail: string | null }> {
  const isApplied = await waitUntilApplied(context);
  const { warningCount: warnings } = await retryUntilReady(context, () =>
    callGatewayForWrite(context, reloadedSchema, "secrets.reload", {}),
  );
  const parts = [
    isApplied ? null : "Some configuration changes take effect only after the gateway restarts.",
    warnings === 0 ? null : `${warnings} secret(s) could not be read.`,
  ].filter((part) => part !== null);
  return { detail: parts.length === 0 ? null : parts.join(" ") };
}

/** Lists all models that the gateway knows, with their configuration state, availability and the state of their provider's credentials. */
export async function getModelCatalog(context: ManageContext): Promise<Record<string, unknown>[]> {
  const agentId = await readDefaultAgent(context);
  const [all, configured, auth] = await Promise.all([
    retryUntilReady(context, () => callGateway(context, modelsSchema, "models.list", { view: "all", agentId })),
    retryUntilReady(context, () => callGateway(context, modelsSchema, "models.list", { view: "configured", agentId })),
    callGateway(context, authSchema, "models.authStatus", { agentId }),
  ]);
  const nameOf = ({ provider, id }: { provider: string; id: string }): string => `${provider}/${id}`;
  const inUse = new Set(configured.models.map(nameOf));
  const credentials = new Map(auth.providers.map(({ provider, status }) => [provider, status]));
  const models = new Map([...all.models, ...configured.models].map((model) => [nameOf(model), model]));
  return [...models].map(([name, model]) => ({
    ...model,
    id: name,
    configured: inUse.has(name),
    credentials: credentials.get(model.provider) ?? null,
  }));
}

/** Retries for a limited time: while its configuration changes, the gateway cannot list models or reload secrets. */
async function retryUntilReady<T>({ signal }: ManageContext, act: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + READY_LIMIT_MS;
  for (;;) {
    try {
      return await act();
    } catch (error) {
      const isTransient = error instanceof GatewayError && error.code === "UNAVAILABLE" && performance.now() < deadline;
      if (!isTransient) throw error;
      await delay(RETRY_MS, undefined, { signal });
    }
  }
}
