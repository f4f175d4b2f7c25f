import type { Connection } from "#contract";
import type { Credentials, ProgramContext } from "../shared/agent-program/agent-program.ts";
import { checkLogin } from "../shared/claude-code/login.ts";
import { homeSetting } from "./settings.ts";

/** Checks whether Claude Code has credentials. */
export const findCredentials = (connection: Connection, argv: readonly string[], context: ProgramContext): Promise<Credentials> =>
  // With `--cli`, `claude-agent-acp` runs its bundled Claude Code.
  checkLogin(connection === "acp" ? [...argv, "--cli"] : argv, context, homeSetting);
