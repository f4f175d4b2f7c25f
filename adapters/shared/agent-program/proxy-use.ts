import type { PreflightStep } from "#contract";
import type { ProxyPlan } from "../model-proxy/proxy-plan.ts";
import { readProxyMode } from "../model-proxy/settings.ts";
import type { AgentProgram, ProgramConnection, ProgramContext } from "./agent-program.ts";

/** How the tasks of a connection call their model. `direct`: Bridge calls it, and the runtime has no key. */
export type ProxyUse =
  | { kind: "off" }
  | { kind: "direct" }
  | { kind: "on"; plan: Exclude<ProxyPlan, { impossible: string }> }
  | { kind: "impossible"; reason: string; isRequired: boolean };

/** Returns how the tasks of a connection call their model, according to the settings and the credentials. */
export function findProxyUse(
  { provider }: Pick<AgentProgram, "provider">,
  connection: ProgramConnection,
  context: ProgramContext,
): ProxyUse {
  const mode = readProxyMode(context.settings.modelProxy ?? "off", provider);
  if (mode === "off") return { kind: "off" };
  if (connection.planProxy === undefined) return { kind: "direct" };
  const plan = connection.planProxy(context);
  return "impossible" in plan ? { kind: "impossible", reason: plan.impossible, isRequired: mode === "required" } : { kind: "on", plan };
}

/** Describes the use for the operator; null if the proxy is off. */
export function createProxyStep(use: ProxyUse): PreflightStep | null {
  const step = "model proxy";
  if (use.kind === "off") return null;
  if (use.kind === "direct") return { step, ok: true, detail: "not needed: Bridge calls the model itself, so tasks have no key" };
  if (use.kind === "on") return { step, ok: true, detail: `on: ${use.plan.routes.map(({ baseUrl }) => new URL(baseUrl).host).join(", ")}` };
  return use.isRequired
    ? { step, ok: false, detail: `BRIDGE_MODEL_PROXY requires the proxy, but it is not possible: ${use.reason}` }
    : { step, ok: true, detail: `not possible: ${use.reason} Tasks call the model with the real credentials.` };
}
