import type { Permissions, Rule } from "../../../adapters/opencode/permissions.ts";
import type { ProgramContext } from "../../../adapters/shared/agent-program/agent-program.ts";
import { programSettingsSchema } from "../../../adapters/shared/agent-program/settings.ts";
import { programContext } from "../shared/agent-program/scripted-program.ts";

/** Creates the context of an adapter with these settings and this environment. */
export const contextOf = (settings: object = {}, env: ProgramContext["env"] = { ANTHROPIC_API_KEY: "k" }): ProgramContext =>
  programContext("/data", { settings: programSettingsSchema.parse(settings), env });

/** Converts permissions to rules as OpenCode lists them. */
export const rulesOf = (permissions: Permissions): Rule[] =>
  Object.entries(permissions).flatMap(([permission, rule]) =>
    Object.entries(typeof rule === "string" ? { "*": rule } : rule).map(([pattern, action]) => ({ permission, pattern, action })),
  );
