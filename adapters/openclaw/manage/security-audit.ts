import { rejectOnAbort } from "@hak2i/async-kit";
import { z } from "zod";
import { ManagementError } from "#contract";
import { probeProgram } from "../../shared/agent-program/probe-program.ts";
import { createProgramEnvironment } from "../../shared/agent-program/program-environment.ts";
import { readConfig } from "./gateway-config.ts";
import type { ManageContext } from "./manage-context.ts";

const LIMIT_MS = 60_000;
/** How long a result is cached. The audit uses about 10 s of CPU time. */
const CACHE_MS = 60_000;
const auditSchema = z.looseObject({
  summary: z.object({ critical: z.number(), warn: z.number(), info: z.number() }),
  findings: z.array(z.looseObject({ checkId: z.string(), severity: z.string(), title: z.string() })),
});

/** One run of the audit. Concurrent callers share its result. */
interface Audit {
  outcome: Promise<Record<string, unknown>>;
  /** End of the validity of the outcome, by `performance.now()`. */
  expiresAt: number;
  /** Number of callers that wait for the outcome. */
  waitingCallers: number;
  stop: AbortController;
}

/**
 * Creates the reader of a gateway's security posture. It runs OpenClaw's audit program on the same host, one run at a time, and stops a run
 * that no caller waits for.
 */
export function createSecurityAudit(): (context: ManageContext) => Promise<Record<string, unknown>> {
  let last: Audit | null = null;

  function start(context: ManageContext): Audit {
    const stop = new AbortController();
    const audit: Audit = {
      outcome: runAudit({ ...context, signal: stop.signal }),
      expiresAt: Number.POSITIVE_INFINITY,
      waitingCallers: 0,
      stop,
    };
    audit.outcome.then(
      () => (audit.expiresAt = performance.now() + CACHE_MS),
      () => (audit.expiresAt = 0),
    );
    return audit;
  }

  return async (context) => {
    if (last === null || last.stop.signal.aborted || performance.now() > last.expiresAt) last = start(context);
    const audit = last;
    audit.waitingCallers += 1;
    try {
      return await rejectOnAbort(audit.outcome, context.signal);
    } finally {
      audit.waitingCallers -= 1;
      if (audit.waitingCallers === 0 && audit.expiresAt === Number.POSITIVE_INFINITY) audit.stop.abort();
    }
  };
}

async function runAudit(context: ManageContext): Promise<Record<string, unknown>> {
  const { command, stateDir, env } = context;
  if (command === null || stateDir === null)
    throw new ManagementError(
      "not_supported",
      "The gateway has no method for security audits. To run OpenClaw's audit program, run Bridge on the gateway's host and set BRIDGE_OPENCLAW_COMMAND and BRIDGE_OPENCLAW_STATE_DIR.",
    );
  const { path: configPath } = await readConfig(context);
  const variables = { OPENCLAW_STATE_DIR: stateDir, ...(configPath === undefined ? {} : { OPENCLAW_CONFIG_PATH: configPath }) };
  const stdout = await probeProgram(context, {
    argv: [...command, "security", "audit", "--json"],
    env: createProgramEnvironment({ env, settings: { env: [] } }, [], variables),
    limitMs: LIMIT_MS,
    ...(context.signal !== undefined && { signal: context.signal }),
  }).then(
    (answer) => answer.stdout,
    (error: unknown) => {
      throw new ManagementError("unavailable", `OpenClaw's security audit failed to start or did not finish within ${LIMIT_MS / 1000} s.`, {
        cause: error,
      });
    },
  );
  return parseAudit(stdout.replaceAll(stateDir, "$OPENCLAW_STATE_DIR"));
}

function parseAudit(stdout: string): Record<string, unknown> {
  try {
    return auditSchema.parse(JSON.parse(stdout));
  } catch (error) {
    throw new ManagementError("unavailable", "OpenClaw's security audit printed a report in an unknown format.", { cause: error });
  }
}
