import { z } from "zod";
import type { ProgramContext } from "../shared/agent-program/agent-program.ts";
import { LONG_PROBE_LIMIT_MS, probeProgram } from "../shared/agent-program/probe-program.ts";
import { createCodexEnvironment } from "./configuration.ts";
import { findCodex } from "./find-codex.ts";

const catalogSchema = z.looseObject({ models: z.array(z.looseObject({ slug: z.string() })) });

/** Lists the models that `codex` knows; null if OPENAI_BASE_URL is set, because another endpoint may offer other models. */
export async function listModels(context: ProgramContext): Promise<string[] | null> {
  const found = findCodex(context);
  if ("missing" in found || context.env["OPENAI_BASE_URL"] !== undefined) return null;
  const { end, stdout } = await probeProgram(context, {
    argv: [...found.argv, "debug", "models"],
    env: createCodexEnvironment(context),
    limitMs: LONG_PROBE_LIMIT_MS,
  });
  return end.exitCode === 0 ? catalogSchema.parse(JSON.parse(stdout)).models.map(({ slug }) => slug) : null;
}
