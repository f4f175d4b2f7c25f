import { realpathSync, statSync } from "node:fs";
import { withTimeout } from "@hak2i/async-kit";
import type { AdapterHealthStatus, PreflightStep } from "#contract";
import { createSandboxSteps } from "../process/sandbox.ts";
import type { AgentProgram, Probe, ProgramConnection, ProgramContext, ProgramLookup } from "./agent-program.ts";
import { createProxyStep, findProxyUse } from "./proxy-use.ts";

/**
 * How long a health check takes at most: the probes of all connections in parallel, and then the credentials. The registry gives it 15 s.
 */
const CHECK_LIMIT_MS = 14_000;
/** How long it waits for the probes. The probe of a slower program continues, and a later check uses its answer. */
const PROBES_LIMIT_MS = 10_000;

/** A connection with the result of its lookup and its probe. */
export interface FoundConnection {
  connection: ProgramConnection;
  lookup: ProgramLookup;
  /** Null before the first probe. */
  probe: { ok: true; probe: Probe } | { ok: false; reason: string } | null;
}

/** Looks up the programs of all connections that the settings allow. Starts no process. */
export function findConnections({ connections }: AgentProgram, context: ProgramContext): FoundConnection[] {
  const { connection: onlyName } = context.settings;
  const allowed = onlyName === undefined ? connections : connections.filter(({ name }) => name === onlyName);
  return allowed.map((connection) => ({ connection, lookup: connection.find(context), probe: null }));
}

/** The probes of programs, by the identity of their files. */
export interface Probes {
  answers: Map<string, Probe>;
  /** Probes that have not answered yet. */
  running: Map<string, Promise<Probe>>;
}

/** Probes the programs in parallel. A program whose files have not changed since its last answer is not started again. */
export async function probeConnections(found: readonly FoundConnection[], context: ProgramContext, probes: Probes): Promise<void> {
  await Promise.all(
    found.map(async (entry) => {
      if ("missing" in entry.lookup) return;
      const { argv } = entry.lookup;
      const key = `${entry.connection.name}\0${argv.map(identityOf).join("\0")}`;
      try {
        // A connection without a program, such as an API, can change at any time, so its answer is not cached.
        const cached = argv.length === 0 ? undefined : probes.answers.get(key);
        const probe =
          cached ??
          (await rejectAfter(
            PROBES_LIMIT_MS,
            startProbe(key, () => entry.connection.probe(argv, context), probes),
            STILL_STARTING,
          ));
        entry.probe = { ok: true, probe };
      } catch (error) {
        entry.probe = { ok: false, reason: reasonOf(error) };
      }
    }),
  );
}

const STILL_STARTING = `The program is still starting: no answer within ${PROBES_LIMIT_MS / 1000} s. Bridge checks again.`;

/** Starts a probe, or returns the one that is running. */
function startProbe(key: string, probe: () => Promise<Probe>, { answers, running }: Probes): Promise<Probe> {
  const earlier = running.get(key);
  if (earlier !== undefined) return earlier;
  const started = Promise.resolve()
    .then(probe)
    .then((answer) => {
      answers.set(key, answer);
      return answer;
    })
    .finally(() => running.delete(key));
  running.set(key, started);
  // The check may have stopped waiting, and an unhandled rejection would crash Bridge.
  started.catch(() => {});
  return started;
}

/** Returns whether tasks can use the connection: its program exists, and its probe has not failed. */
export const isUsable = (entry: FoundConnection): entry is FoundConnection & { lookup: Extract<ProgramLookup, { argv: unknown }> } =>
  "argv" in entry.lookup && entry.probe?.ok !== false;

const CONNECTION_STEPS = ["primary connection", "secondary connection", "tertiary connection"] as const;

/**
 * Reports the steps of the preflight in their fixed order: connections, authentication, multi-agent capability, timeout, sandbox.
 * `startedAt`: the start of the check, in ms of the monotonic clock.
 */
export async function reportHealth(
  program: AgentProgram,
  found: readonly FoundConnection[],
  context: ProgramContext,
  startedAt: number,
): Promise<AdapterHealthStatus> {
  const steps: PreflightStep[] = found.map((entry, index) => ({
    step: CONNECTION_STEPS[index] ?? "further connection",
    ...describe(entry),
  }));
  const used = found.find(isUsable);
  if (used === undefined) {
    const detail =
      steps.length === 0
        ? `The ${program.provider} adapter has no connection "${context.settings.connection}".`
        : steps.map((step) => step.detail).join(" ");
    return { status: "offline", connection: null, version: null, detail, preflight: steps };
  }
  const credentials = await rejectAfter(
    startedAt + CHECK_LIMIT_MS - performance.now(),
    program.findCredentials(used.connection.name, used.lookup.argv, context),
  ).catch((error: unknown) => ({ ok: false, detail: `The credentials could not be checked. ${reasonOf(error)}` }));
  steps.push({ step: "authentication", ...credentials });
  const proxyStep = createProxyStep(findProxyUse(program, used.connection, context));
  if (proxyStep !== null) steps.push(proxyStep);
  // A council works with every runtime, so this step is informational and cannot fail.
  const multiAgent = used.connection.multiAgent ?? program.multiAgent;
  steps.push({
    step: "multi-agent capability",
    ok: true,
    detail: `${multiAgent.replace(/\.$/, "")}. Councils do not use it: each role of a council runs as a separate task.`,
  });
  steps.push({
    step: "timeout",
    ok: true,
    detail: `Estimated time limits are multiplied by ${program.timeoutMultiplier} for this runtime.`,
  });
  steps.push(...createSandboxSteps(context));
  const isOffline = proxyStep?.ok === false;
  return {
    status: isOffline ? "offline" : credentials.ok ? "healthy" : "degraded",
    connection: used.connection.name,
    path: used.connection.name === "in-process" ? null : (used.lookup.argv[0] ?? used.lookup.server ?? null),
    version: used.probe?.ok === true ? used.probe.probe.version : null,
    detail: isOffline ? proxyStep.detail : credentials.ok ? null : credentials.detail,
    preflight: steps,
  };
}

function describe({ connection, lookup, probe }: FoundConnection): { ok: boolean; detail: string } {
  if ("missing" in lookup) return { ok: false, detail: `${connection.name}: ${lookup.missing}` };
  if (probe?.ok === false) return { ok: false, detail: `${connection.name}: ${probe.reason}` };
  return { ok: true, detail: `${connection.name}: ${probe?.probe.detail ?? "not probed yet"}` };
}

/** Identifies the file of an argument. An update of the program changes the identity. */
function identityOf(argument: string): string {
  if (!argument.startsWith("/")) return argument;
  try {
    const file = realpathSync(argument);
    const { ino, ctimeMs, size } = statSync(file);
    return `${file} ${ino} ${ctimeMs} ${size}`;
  } catch {
    return argument;
  }
}

/** Rejects if the work takes longer than the limit. The work continues. */
const rejectAfter = <T>(limitMs: number, work: Promise<T>, message = `No answer within ${Math.round(limitMs / 1000)} s.`): Promise<T> =>
  withTimeout(work, limitMs, () => {
    throw new Error(message);
  });

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
