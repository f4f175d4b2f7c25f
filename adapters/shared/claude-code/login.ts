import { z } from "zod";
import type { Credentials, ProgramContext } from "../agent-program/agent-program.ts";
import { probeProgram } from "../agent-program/probe-program.ts";
import { createClaudeEnvironment } from "./environment.ts";
import { loginAdvice } from "./result-line.ts";

const statusSchema = z.object({ loggedIn: z.boolean(), authMethod: z.string(), apiProvider: z.string() });

/** Checks whether Claude Code has credentials in the home directory of the tasks. Only the vendor can check whether they are valid. */
export async function checkLogin(argv: readonly string[], context: ProgramContext, homeSetting: string): Promise<Credentials> {
  const home = context.settings.home === "user" ? context.env["HOME"] : undefined;
  try {
    const call = { argv: [...argv, "auth", "status"], env: createClaudeEnvironment(context), ...(home === undefined ? {} : { home }) };
    const { stdout, end } = await probeProgram(context, call);
    const status = parseStatus(stdout);
    if (status === null)
      return { ok: false, detail: `claude auth status printed no valid status: ${`${stdout} ${end.stderr}`.trim().slice(0, 500)}` };
    if (status.loggedIn) return { ok: true, detail: `${status.authMethod} (${status.apiProvider})` };
    return { ok: false, detail: `not logged in: ${loginAdvice(homeSetting)}` };
  } catch (error) {
    return { ok: false, detail: `claude auth status: ${(error as Error).message}` };
  }
}

function parseStatus(stdout: string): z.infer<typeof statusSchema> | null {
  try {
    return statusSchema.parse(JSON.parse(stdout));
  } catch {
    return null;
  }
}
