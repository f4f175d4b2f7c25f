import { describe, expect, test } from "vitest";
import type { ExecutionRequest } from "#contract";
import { createPolicy } from "../../../adapters/gemini/policy.ts";

describe("the policy", () => {
  const rules = (profile: "inspect" | "modify", approvals: ExecutionRequest["approvals"]) =>
    createPolicy({ profile, approvals }).split("[[rule]]").slice(1);

  // The setting `tools.core` allows the tools that it lists, and the mode `plan` writes files, so only a deny rule enforces inspect.
  test("the policy of inspect denies everything except read-only tools, with any approvals", () => {
    expect(createPolicy({ profile: "inspect", approvals: "allow" })).toBe(createPolicy({ profile: "inspect", approvals: "deny" }));
    const [denyAll = "", ...allowed] = rules("inspect", "deny");
    expect(denyAll).toMatch(/toolName = \["\*"\]\ndecision = "deny"\npriority = 100/);
    for (const rule of allowed) expect(rule).toMatch(/decision = "allow"\npriority = 200/);
    expect(allowed.join("")).not.toMatch(/write_file|replace|run_shell_command|plan_mode|web_fetch|activate_skill/);
  });

  test("the policy of inspect allows only MCP tools that are annotated as read-only", () => {
    expect(rules("inspect", "deny").at(-1)).toMatch(/mcpName = "\*"\ntoolAnnotations = \{ readOnlyHint = true \}/);
  });

  test("the policy of modify with approvals deny allows edits inside the workspace and no commands", () => {
    const policy = createPolicy({ profile: "modify", approvals: "deny" });
    expect(policy).toMatch(/"write_file","replace"/);
    expect(policy).not.toContain("run_shell_command");
    expect(policy.match(/name = "allowed-path"/g)).toHaveLength(2);
  });

  test("the policy of modify with approvals ask asks about every denied call, except for calls of helper agents", () => {
    const denyRule = 'decision = "deny"\npriority = 100';
    const denied = rules("modify", "deny");
    const asked = rules("modify", "ask");
    expect(asked[0]).toBe(denied[0]?.replace('"deny"', '"ask_user"'));
    expect(denied[0]).toContain(denyRule);
    expect(asked.slice(4)).toEqual(denied.slice(1));
    for (const [index, helper] of ["generalist", "codebase_investigator", "cli_help"].entries())
      expect(asked[index + 1]).toBe(`${denied[0]?.replace("priority = 100\n", `priority = 150\nsubagent = "${helper}"\n`)}`);
    expect(createPolicy({ profile: "inspect", approvals: "ask" })).toBe(createPolicy({ profile: "inspect", approvals: "deny" }));
  });

  test("the policy of modify with approvals allow allows everything", () => {
    expect(rules("modify", "allow")).toEqual([expect.stringMatching(/\["\*"\]\ndecision = "allow"[\s\S]*allowRedirection = true/)]);
  });
});
