import { z } from "zod";
import { ManagementError } from "#contract";
import { GatewayError } from "../gateway-error.ts";
import { callGatewayForWrite, type ManageContext } from "./manage-context.ts";
import { redactPaths } from "./management-errors.ts";
import { readSkillRows, type SkillRow } from "./skill-rows.ts";

const INSTALL_LIMIT_MS = 300_000;
const DEPENDENCY_NAMES = {
  bins: "programs",
  anyBins: "one of the programs",
  env: "environment variables",
  config: "settings",
  os: "an operating system",
} as const;

/** Makes the gateway install the missing programs of a skill, one after the other; `detail` lists what is still missing. */
export async function installSkillDependencies(
  context: ManageContext,
  name: string,
): Promise<{ installed: string[]; detail: string | null }> {
  const { agentId, row } = await findSkill(context, name);
  const installs = row.install.filter(({ bins }) => bins.length === 0 || bins.some((program) => isMissing(row, program)));
  const installed: string[] = [];
  for (const { id, label } of installs) {
    try {
      const params = { agentId, name, installId: id, timeoutMs: INSTALL_LIMIT_MS };
      await callGatewayForWrite(context, z.unknown(), "skills.install", params, { timeoutMs: INSTALL_LIMIT_MS + 10_000 });
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== "UNAVAILABLE" || error.retryAfterMs !== null) throw error;
      const before = installed.length === 0 ? "" : ` Installed before the failure: ${installed.join(", ")}.`;
      throw new ManagementError(
        "unavailable",
        `Installation of ${label || id} for the skill ${name} failed: ${redactPaths(error.message)}.${before}`,
        {
          cause: error,
        },
      );
    }
    installed.push(id);
  }
  const { row: after } = installed.length === 0 ? { row } : await findSkill(context, name);
  return { installed, detail: describeMissing(after) };
}

async function findSkill(context: ManageContext, name: string): Promise<{ agentId: string; row: SkillRow }> {
  const { agentId, rows } = await readSkillRows(context);
  const row = rows.find((one) => one.name === name);
  if (row === undefined) throw new ManagementError("not_found", `The skill ${name} does not exist.`);
  return { agentId, row };
}

const isMissing = ({ missing }: SkillRow, program: string): boolean => missing.bins.includes(program) || missing.anyBins.includes(program);

function describeMissing({ missing }: SkillRow): string | null {
  const parts = Object.entries(DEPENDENCY_NAMES).flatMap(([kind, label]) => {
    const names = missing[kind as keyof typeof DEPENDENCY_NAMES];
    return names.length === 0 ? [] : [`${label} ${names.join(", ")}`];
  });
  return parts.length === 0 ? null : `Still missing: ${parts.join("; ")}.`;
}
