import { describe, expect, test } from "vitest";
import type { ExecutionRequest } from "#contract";
import {
  createPermissions,
  matchesPermissions,
  type OpenCodeConnection,
  type Permissions,
} from "../../../adapters/opencode/permissions.ts";
import { markToolServer } from "../../../adapters/shared/declared-tools/tool-server-spec.ts";
import { createExecutionRequest } from "../../conformance/execution-request.ts";
import { rulesOf } from "./fixtures.ts";

const rightsOf = (changes: Partial<ExecutionRequest>, repository: string | null = null, connection: OpenCodeConnection = "http-api") =>
  createPermissions(
    createExecutionRequest("/agents/one", {
      directories: { ...createExecutionRequest("/agents/one").directories, tmp: "/tmp-of-task" },
      ...changes,
    }),
    repository,
    connection,
  );

/** Applies rules as OpenCode does: the last matching rule decides. */
function decide(permissions: Permissions, permission: string, pattern = "*"): string | undefined {
  const matches = (rule: string, value: string) =>
    new RegExp(`^${rule.replaceAll(/[.+?^$()|[\]{}\\]/g, "\\$&").replaceAll("*", ".*")}$`, "s").test(value);
  return rulesOf(permissions).findLast((rule) => matches(rule.permission, permission) && matches(rule.pattern, pattern))?.action;
}

describe("the permissions of a task", () => {
  const mcpServers: ExecutionRequest["mcpServers"] = [{ name: "my words", transport: "stdio", command: "/bin/words" }];
  const changing = [
    "bash",
    "edit",
    "write",
    "patch",
    "task",
    "webfetch",
    "websearch",
    "todowrite",
    "skill",
    "lsp",
    "question",
    "my_words_say",
    "of_tomorrow",
  ];

  test.each(["allow", "deny", "ask"] as const)(
    "the permissions of a task allow only reads of the workspace with profile inspect and approvals %s",
    (approvals) => {
      const permissions = rightsOf({ profile: "inspect", approvals, mcpServers });
      for (const tool of changing) expect([tool, decide(permissions, tool)]).toEqual([tool, "deny"]);
      for (const tool of ["read", "grep", "glob", "list", "StructuredOutput"])
        expect([tool, decide(permissions, tool)]).toEqual([tool, "allow"]);
      expect(decide(permissions, "external_directory", "/agents/one/src/*")).toBe("allow");
      for (const outside of ["/etc/*", "/agents/*", "/agents/one-more/*", "/tmp-of-task/x"])
        expect(decide(permissions, "external_directory", outside)).toBe("deny");
    },
  );

  test.each(["inspect", "modify"] as const)(
    "the permissions of a task allow the declared tools with profile %s and approvals deny",
    (profile) => {
      const declared = markToolServer({
        name: "bridge",
        transport: "http",
        url: "http://127.0.0.1:1/mcp",
        headers: { Authorization: "Bearer x" },
      });
      const permissions = rightsOf({ profile, approvals: "deny", mcpServers: [...mcpServers, declared] });
      expect(decide(permissions, "bridge_ask_user")).toBe("allow");
      expect(decide(permissions, "my_words_say")).toBe(profile === "inspect" ? "deny" : "allow");
    },
  );

  test("the permissions of a task allow edits and the named MCP servers with profile modify and approvals deny", () => {
    const permissions = rightsOf({ approvals: "deny", mcpServers });
    for (const tool of ["edit", "read", "todowrite", "my_words_say"]) expect([tool, decide(permissions, tool)]).toEqual([tool, "allow"]);
    for (const tool of ["bash", "task", "webfetch", "other_say", "of_tomorrow"])
      expect([tool, decide(permissions, tool)]).toEqual([tool, "deny"]);
    expect(decide(permissions, "external_directory", "/tmp-of-task/x")).toBe("allow");
    expect(decide(permissions, "external_directory", "/etc/*")).toBe("deny");
  });

  test.each([
    ["http-api", "ask"],
    ["cli", "deny"],
  ] as const)(
    "the permissions of a task allow everything with profile modify and approvals allow; over %s the action for external paths is %s",
    (connection, outside) => {
      const permissions = rightsOf({ mcpServers }, null, connection);
      for (const tool of ["bash", "edit", "task", "webfetch", "my_words_say"])
        expect([tool, decide(permissions, tool)]).toEqual([tool, "allow"]);
      for (const tool of ["question", "plan_enter", "plan_exit"]) expect([tool, decide(permissions, tool)]).toEqual([tool, "deny"]);
      expect(decide(permissions, "external_directory", "/etc/*")).toBe(outside);
      expect(decide(permissions, "external_directory", "/agents/one/src/*")).toBe("allow");
    },
  );

  test("limit edits to the workspace inside a larger repository", () => {
    for (const approvals of ["allow", "deny"] as const) {
      const permissions = rightsOf({ approvals }, "/agents");
      expect(decide(permissions, "edit", "one/src/x.ts")).toBe("allow");
      for (const outside of ["two/x.ts", "x.ts", "one-more/x.ts"]) expect(decide(permissions, "edit", outside)).toBe("deny");
      expect(decide(rightsOf({ approvals }, "/agents/one"), "edit", "src/x.ts")).toBe("allow");
    }
  });

  // A permission request ends `opencode run`.
  test.each([
    ["inspect", "deny"],
    ["inspect", "ask"],
    ["modify", "deny"],
    ["modify", "allow"],
  ] as const)("the permissions of a task contain no ask rules over cli with profile %s and approvals %s", (profile, approvals) => {
    const actions = rulesOf(rightsOf({ profile, approvals, mcpServers }, null, "cli")).map(({ action }) => action);
    expect(new Set(actions)).toEqual(new Set(["allow", "deny"]));
  });

  test("the permissions of a task ask about everything that deny rejects with approvals ask, except interactive tools", () => {
    const [denied, asked] = [rightsOf({ approvals: "deny", mcpServers }), rightsOf({ approvals: "ask", mcpServers })];
    const actionsOf = (permissions: Permissions) => changing.map((tool) => [tool, decide(permissions, tool)]);
    const neverAsked = ["question"];
    expect(actionsOf(asked)).toEqual(
      actionsOf(denied).map(([tool = "", action]) => [tool, action === "deny" && !neverAsked.includes(tool) ? "ask" : action]),
    );
    expect(decide(asked, "bash", "rm -r x")).toBe("ask");
    expect(decide(asked, "external_directory", "/etc/*")).toBe("ask");
    expect(decide(rightsOf({ approvals: "ask" }, "/agents"), "edit", "two/x.ts")).toBe("deny");
  });
});

describe("the rules that the server reports", () => {
  const asked = rightsOf({ profile: "inspect" });
  const rules = rulesOf(asked);
  const builtInRule = { permission: "*", pattern: "*", action: "allow" };
  const directory = { permission: "external_directory", pattern: "/data/tool-output/*", action: "allow" };

  test.each([
    ["as requested", rules, true],
    ["after those of every agent", [builtInRule, ...rules], true],
    ["before directories of OpenCode", [builtInRule, ...rules, directory], true],
    ["before a rule that allows more", [...rules, { ...builtInRule, permission: "bash" }], false],
    ["with one missing", rules.slice(0, -1), false],
    ["with one changed", rules.map((rule) => (rule.permission === "*" ? builtInRule : rule)), false],
    ["with one in between", [...rules.slice(0, 2), builtInRule, ...rules.slice(2)], false],
    ["repeated, the last time as requested", [...rules, builtInRule, ...rules], true],
    ["of no agent", [], false],
  ])("the rules that the server reports match the request or not: %s", (_, found, matches) => {
    expect(matchesPermissions(found, asked)).toBe(matches);
  });
});
