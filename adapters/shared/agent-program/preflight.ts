import { realpathSync, statSync } from "node:fs";
import type { AdapterHealthStatus, PreflightStep } from "#contract";
import { sandboxStep } from "../process/sandbox-step.ts";
import type { AgentProgram, Finding, Probe, ProgramConnection, ProgramContext } from "./agent-program.ts";

/**
 * How long a health check, which has 15 s in all, waits for the connections, all at the same time, and then for the credentials. A program that
 * starts more slowly goes on starting, and a later check gets its answer.
 */
const PROBES_LIMIT_MS = 10_000;
const CREDENTIALS_LIMIT_MS = 4_000;

/** A connection as it was found. */
export interface FoundConnection {
  connection: ProgramConnection;
  finding: Finding;
  /** Null until it has been tried. */
  probe: { ok: true; probe: Probe } | { ok: false; reason: string } | null;
}

/** Looks for the programs of all connections that the settings allow; starts nothing. */
export function findConnections({ connections }: AgentProgram, context: ProgramContext): FoundConnection[] {
  const { connection: only } = context.settings;
  const allowed = only === undefined ? connections : connections.filter(({ name }) => name === only);
  return allowed.map((connection) => ({ connection, finding: connection.find(context), probe: null }));
}

/** What is known of programs, by the identity of their files. */
export interface Probes {
  answered: Map<string, Probe>;
  /** Programs that have not answered yet. */
  underway: Map<string, Promise<Probe>>;
}

/** Starts the programs that were found, each in its own time; what has not changed since it last answered is not asked again. */
export async function probeConnections(found: readonly FoundConnection[], context: ProgramContext, probes: Probes): Promise<void> {
  await Promise.all(
    found.map(async (entry) => {
      if ("missing" in entry.finding) return;
      const { argv } = entry.finding;
      const key = `${entry.connection.name}\0${argv.map(identityOf).join("\0")}`;
      try {
        // What no file stands for changes without a trace on this machine.
        const known = argv.length === 0 ? undefined : probes.answered.get(key);
        const probe =
          known ??
          (await within(
            PROBES_LIMIT_MS,
            startProbe(key, () => entry.connection.probe(argv, context), probes),
            STARTING,
          ));
        entry.probe = { ok: true, probe };
      } catch (error) {
        entry.probe = { ok: false, reason: reasonOf(error) };
      }
    }),
  );
}

const STARTING = `It is still starting: it has not answered within ${PROBES_LIMIT_MS / 1000} s. Bridge looks again.`;

/** Asks a program, unless it is being asked already. */
function startProbe(key: string, probe: () => Promise<Probe>, { answered, underway }: Probes): Promise<Probe> {
  const asked = underway.get(key);
  if (asked !== undefined) return asked;
  const started = Promise.resolve()
    .then(probe)
    .then((answer) => {
      answered.set(key, answer);
      return answer;
    })
    .finally(() => underway.delete(key));
  underway.set(key, started);
  // A check that no longer waits is no reason for an unhandled rejection.
  started.catch(() => {});
  return started;
}

/** A connection that tasks can use: not missing, and not known to fail. */
export const isUsable = (entry: FoundConnection): entry is FoundConnection & { finding: { argv: readonly string[] } } =>
  "argv" in entry.finding && entry.probe?.ok !== false;

const places = ["primary connection", "secondary connection", "tertiary connection"] as const;

/** Tells the preflight step by step, in its fixed order: connections, authentication, several agents, timeout, sandbox. */
export async function reportHealth(
  program: AgentProgram,
  found: readonly FoundConnection[],
  context: ProgramContext,
): Promise<AdapterHealthStatus> {
  const steps: PreflightStep[] = found.map((entry, index) => ({ step: places[index] ?? "further connection", ...describe(entry) }));
  const used = found.find(isUsable);
  if (used === undefined) {
    const detail =
      steps.length === 0
        ? `${program.provider} has no connection ${context.settings.connection}.`
        : steps.map((step) => step.detail).join(" ");
    return { status: "offline", connection: null, version: null, detail, preflight: steps };
  }
  const credentials = await within(CREDENTIALS_LIMIT_MS, program.findCredentials(used.connection.name, used.finding.argv, context)).catch(
    (error: unknown) => ({ ok: false, detail: `Whether there are credentials is not known. ${reasonOf(error)}` }),
  );
  steps.push({ step: "authentication", ...credentials });
  // A council works with every runtime, so this step cannot fail: it only describes.
  const multiAgent = used.connection.multiAgent ?? program.multiAgent;
  steps.push({
    step: "multi-agent capability",
    ok: true,
    detail: `${multiAgent.replace(/\.$/, "")}. Councils do not use it: each role of a council is a task of its own.`,
  });
  steps.push({
    step: "timeout",
    ok: true,
    detail: `Estimated time limits are multiplied by ${program.timeoutMultiplier} for this runtime.`,
  });
  steps.push(...sandboxStep(context.sandbox));
  return {
    status: credentials.ok ? "healthy" : "degraded",
    connection: used.connection.name,
    version: used.probe?.ok === true ? used.probe.probe.version : null,
    detail: credentials.ok ? null : credentials.detail,
    preflight: steps,
  };
}

function describe({ connection, finding, probe }: FoundConnection): { ok: boolean; detail: string } {
  if ("missing" in finding) return { ok: false, detail: `${connection.name}: ${finding.missing}` };
  if (probe?.ok === false) return { ok: false, detail: `${connection.name}: ${probe.reason}` };
  return { ok: true, detail: `${connection.name}: ${probe?.probe.detail ?? "not tried yet"}` };
}

/** A file that is replaced by an update has another identity. */
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

/** Work that goes on beyond its limit is no longer waited for. */
async function within<T>(limitMs: number, work: Promise<T>, words = `There was no answer within ${limitMs / 1000} s.`): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(words)), limitMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
