import { rejectOnAbort } from "@hak2i/async-kit";
import { z } from "zod";
import { ManagementError } from "#contract";
import { probeProgram } from "../../shared/agent-program/probe-program.ts";
import { programEnvironment } from "../../shared/agent-program/program-environment.ts";
import { readConfig } from "./gateway-config.ts";
import type { ManageContext } from "./manage-context.ts";

/** It takes some 10 s of a whole processor, so what it said counts for a while. */
const LIMIT_MS = 60_000;
const CACHE_MS = 60_000;
const auditSchema = z.looseObject({
  summary: z.object({ critical: z.number(), warn: z.number(), info: z.number() }),
  findings: z.array(z.looseObject({ checkId: z.string(), severity: z.string(), title: z.string() })),
});

/** One run of the audit. Callers that ask while it runs share its result. */
interface Audit {
  outcome: Promise<Record<string, unknown>>;
  /** Its outcome is valid until then. */
  endsAt: number;
  waiting: number;
  stop: AbortController;
}

/** Creates the reader of a gateway's security posture. It runs OpenClaw's audit program on the same host, one run at a time, and stops a run that no caller waits for. */
export function createSecurityAudit(): (context: ManageContext) => Promise<Record<string, unknown>> {
  let last: Audit | null = null;

  function start(context: ManageContext): Audit {
    const stop = new AbortController();
    const audit: Audit = { outcome: runAudit({ ...context, signal: stop.signal }), endsAt: Number.POSITIVE_INFINITY, waiting: 0, stop };
    audit.outcome.then(
      () => (audit.endsAt = performance.now() + CACHE_MS),
      () => (audit.endsAt = 0),
    );
    return audit;
  }

  return async (context) => {
    if (last === null || last.stop.signal.aborted || performance.now() > last.endsAt) last = start(context);
    const audit = last;
    audit.waiting += 1;
    try {
      return await rejectOnAbort(audit.outcome, context.signal);
    } finally {
      audit.waiting -= 1;
      if (audit.waiting === 0 && audit.endsAt === Number.POSITIVE_INFINITY) audit.stop.abort();
    }
  };
}

async function runAudit(context: ManageContext): Promise<Record<string, unknown>> {
  const { command, stateDir, env } = context;
  if (command === null || stateDir === null)
    throw new ManagementError(
      "not_supported",
      "The gateway has no call that audits its security. Bridge runs OpenClaw's own audit on the gateway's host, where BRIDGE_OPENCLAW_COMMAND and BRIDGE_OPENCLAW_STATE_DIR say where both are.",
    );
  const { path: configPath } = await readConfig(context);
  const own = { OPENCLAW_STATE_DIR: stateDir, ...(configPath === undefined ? {} : { OPENCLAW_CONFIG_PATH: configPath }) };
  const stdout = await probeProgram(context, {
    argv: [...command, "security", "audit", "--json"],
    env: programEnvironment({ env, settings: { env: [] } }, [], own),
    limitMs: LIMIT_MS,
    ...(context.signal !== undefined && { signal: context.signal }),
  }).then(
    (answer) => answer.stdout,
    (error: unknown) => {
      throw new ManagementError(
        "unavailable",
        `OpenClaw's security audit did not come to an end within ${LIMIT_MS / 1000} s, or did not start.`,
        { cause: error },
      );
    },
  );
  return read(stdout.replaceAll(stateDir, "$OPENCLAW_STATE_DIR"));
}

function read(stdout: string): Record<string, unknown> {
  try {
    return auditSchema.parse(JSON.parse(stdout));
  } catch (error) {
    throw new ManagementError("unavailable", "OpenClaw's security audit said something that Bridge does not understand.", { cause: error });
  }
}
