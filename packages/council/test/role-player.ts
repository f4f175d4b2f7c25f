import type { RoleRequest, RoleResult } from "bridge-council";

/** The answer of a role: an object is returned as JSON, a string unchanged, and a result as the result of the runtime. */
export type Line = object | string | { result: Partial<RoleResult> };
/** Answers by `<role> <round>`, or by `<role>` for all other rounds. A role without one reports no findings. */
export type Script = Readonly<Record<string, Line | ((request: RoleRequest) => Line)>>;

/**
 * Creates a runtime whose roles answer by a script or a function. Records its requests. It returns a session with every answer, also
 * where the council must not use it.
 */
export function createRolePlayer(script: Script | ((request: RoleRequest) => Line) = {}) {
  const requests: RoleRequest[] = [];
  let atOnce = 0;
  let mostAtOnce = 0;
  return {
    requests,
    get mostAtOnce() {
      return mostAtOnce;
    },
    async execute(request: RoleRequest): Promise<RoleResult> {
      requests.push(request);
      atOnce += 1;
      mostAtOnce = Math.max(mostAtOnce, atOnce);
      await new Promise(setImmediate);
      atOnce -= 1;
      const line = typeof script === "function" ? script(request) : lineOf(script, request);
      const result = {
        status: "ok" as const,
        usage: { inputTokens: 10, outputTokens: 1 },
        costUsd: 0.5,
        model: "scripted",
        connection: "cli",
        resumeToken: request.resumeToken ?? `session of ${request.role} ${requests.length}`,
      };
      if (typeof line === "object" && "result" in line) return { ...result, ...line.result };
      return { ...result, output: typeof line === "string" ? line : `\`\`\`json\n${JSON.stringify(line)}\n\`\`\`` };
    },
  };
}

/** Returns the answer of a script for a request. */
export function lineOf(script: Script, request: RoleRequest): Line {
  const line = script[`${request.role} ${request.round}`] ?? script[request.role] ?? { outputs: [] };
  return typeof line === "function" ? line(request) : line;
}

/** Creates an output of an answer. */
export const say = (severity: string, title: string, more: object = {}) => ({
  type: "finding",
  severity,
  title,
  description: `All about: ${title}.`,
  evidence: "a.ts:1",
  action: "Mend it.",
  ...more,
});
