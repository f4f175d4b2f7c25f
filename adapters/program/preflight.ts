import { realpathSync, statSync } from "node:fs";
import type { AdapterHealthStatus, PreflightStep } from "#contract";
import type { AgentProgram, Finding, Probe, ProgramConnection, ProgramContext } from "./agent-program.ts";
import { estimateTimeoutSeconds } from "./estimate-timeout.ts";

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

/** Starts the programs that were found, each in its own time; what has not changed since it last answered is not asked again. */
export async function probeConnections(
  found: readonly FoundConnection[],
  context: ProgramContext,
  cache: Map<string, Probe>,
): Promise<void> {
  await Promise.all(
    found.map(async (entry) => {
      if ("missing" in entry.finding) return;
      const { argv } = entry.finding;
      const key = `${entry.connection.name}\0${argv.map(identityOf).join("\0")}`;
      try {
        const probe = cache.get(key) ?? (await entry.connection.probe(argv, context));
        cache.set(key, probe);
        entry.probe = { ok: true, probe };
      } catch (error) {
        entry.probe = { ok: false, reason: error instanceof Error ? error.message : String(error) };
      }
    }),
  );
}

/** A connection that tasks can use: not missing, and not known to fail. */
export const isUsable = (entry: FoundConnection): entry is FoundConnection & { finding: { argv: readonly string[] } } =>
  "argv" in entry.finding && entry.probe?.ok !== false;

const places = ["primary connection", "secondary connection", "tertiary connection"] as const;

/** Tells the preflight step by step, in its fixed order: connections, authentication, several agents, timeout. */
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
  const credentials = await program.findCredentials(used.connection.name, used.finding.argv, context);
  steps.push({ step: "authentication", ...credentials });
  steps.push({ step: "multi-agent capability", ok: true, detail: program.multiAgent });
  const seconds = estimateTimeoutSeconds({ files: 10 }, "standard", program.timeoutMultiplier);
  steps.push({
    step: "timeout",
    ok: true,
    detail: `${seconds} s for 10 files at standard intensity (multiplier ${program.timeoutMultiplier})`,
  });
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
  return { ok: true, detail: `${connection.name}: ${probe?.probe.detail ?? finding.argv[0]}` };
}

/** A file that is replaced by an update has another identity. */
function identityOf(argument: string): string {
  if (!argument.startsWith("/")) return argument;
  try {
    const file = realpathSync(argument);
    const { mtimeMs, size } = statSync(file);
    return `${file} ${mtimeMs} ${size}`;
  } catch {
    return argument;
  }
}
