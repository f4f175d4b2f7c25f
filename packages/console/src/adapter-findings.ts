import type { Adapter } from "bridge-client";

type Step = Adapter["health"]["preflight"][number];

/** What the check of an adapter found, with each sentence once. */
export interface AdapterFindings {
  /** Why the adapter is not healthy, unless the other lists contain it. */
  note: string | null;
  /** What to do so that an offline adapter has a connection. One of them is enough. */
  remedies: string[];
  /** Other steps that failed. */
  faults: Step[];
  /** The adapters that a council asks; `detail` is null if their own check describes them. */
  runtimes: { provider: string; ok: boolean; detail: string | null }[];
  /** Steps without a fault, with connections by their name. */
  others: Step[];
}

/** The beginning of the detail of a connection. */
const connectionPattern = /^(acp|cli|api|http-api|mcp|native-dispatch|in-process): (.*)$/s;

/** Sorts the steps of a check by what a person does with them. `providers` are those of all adapters. */
export function sortFindings({ provider, health }: Pick<Adapter, "provider" | "health">, providers: ReadonlySet<string>): AdapterFindings {
  const { status, detail, preflight } = health;
  const isConnection = ({ step }: Step): boolean => step.endsWith(" connection");
  const isRuntime = ({ step }: Step): boolean => step !== provider && providers.has(step);
  const isOffline = status === "offline";
  const connections = preflight.filter(isConnection);
  const rest = preflight.filter((step) => !isConnection(step) && !isRuntime(step));
  const remedies = isOffline ? [...new Set(connections.filter(({ ok }) => !ok).map((step) => nameConnection(step).detail))] : [];
  const faults = rest.filter(({ ok }) => !ok);
  const runtimes = preflight.filter(isRuntime).map(({ step, ok, detail }) => ({ provider: step, ok, detail: ok ? detail : null }));
  const isRepeated = remedies.length > 0 || preflight.some((step) => !step.ok && step.detail.includes(detail ?? "")) || runtimes.length > 0;
  return {
    note: isRepeated ? null : detail,
    ...{ remedies, faults, runtimes },
    others: [...(isOffline ? [] : connections.map(nameConnection)), ...rest.filter(({ ok }) => ok)],
  };
}

/** Names a connection by its kind instead of its rank. */
function nameConnection({ ok, detail }: Step): Step {
  const [, step = "program", text = detail] = connectionPattern.exec(detail) ?? [];
  return { step, ok, detail: text };
}
