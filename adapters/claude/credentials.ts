import type { Connection } from "#contract";
import type { Credentials, ProgramContext } from "../shared/agent-program/agent-program.ts";
import { checkLogin } from "../shared/claude-code/login.ts";
import { homeSetting } from "./settings.ts";

/** Looks for the credentials of Claude Code. */
export const findCredentials = (connection: Connection, argv: readonly string[], context: ProgramContext): Promise<Credentials> =>
  // The agent of the acp connection hands the question on to the program that it brings along.
  checkLogin(connection === "acp" ? [...argv, "--cli"] : argv, context, homeSetting);
