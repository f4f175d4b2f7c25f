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

/** Makes the gateway work with what its configuration and its secrets say now; it watches the file itself, so there is little to do. */
export async function reloadConfig(context: ManageContext): Promise<{ detail: string | null }> {
  const isInForce = await waitUntilApplied(context);
  const { warningCount: warnings } = await retryUntilReady(context, () =>
    callGatewayForWrite(context, reloadedSchema, "secrets.reload", {}),
  );
  const parts = [
    isInForce ? null : "A part of the configuration comes into force only when the gateway is started again.",
    warnings === 0 ? null : `${warnings} secret(s) could not be read.`,
  ].filter((part) => part !== null);
  return { detail: parts.length === 0 ? null : parts.join(" ") };
}

/** Every model that the gateway knows: whether it is configured, whether it can be used, and how its provider's credentials are. */
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

/** While its configuration changes the gateway can tell no models and read no secrets, so it is asked again for a while. */
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
