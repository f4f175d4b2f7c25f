import type { AgentProgram } from "../shared/agent-program/agent-program.ts";
import { askLogin } from "../shared/claude-code/login.ts";

/** The setting that error messages about missing credentials refer to. */
export const HOME_SETTING = "BRIDGE_CLAUDE_AGENT_SDK_HOME";

/** Checks whether the SDK's Claude Code has credentials. */
export const findCredentials: AgentProgram["findCredentials"] = (_, argv, context) => askLogin(argv.slice(0, 1), context, HOME_SETTING);
