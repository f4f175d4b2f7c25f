import {
  type CouncilInput,
  createSpending,
  type Member,
  type RoleRequest,
  readInput,
  runBridge,
  runDeepCouncil,
  runModels,
} from "bridge-council";
import { describe, expect, test } from "vitest";
import { judgeCouncil, type WeighedOutput } from "../../../packages/council/src/council-verdict.ts";
import { createIds } from "../../../packages/council/src/ids.ts";
import { mergeSources } from "../../../packages/council/src/merge-sources.ts";
import { renderCouncil } from "../../../packages/council/src/render-council.ts";
import { createRolePlayer, type Line, type Script, say } from "./role-player.ts";

const expert = "Application Security Engineer";

function inputOf(changes: object = {}): CouncilInput {
  const given = { scope: "12 files", task_description: "Review it.", task_type: "review", domains: ["security"], ...changes };
  const read = readInput(given, "council-1", { needsDomains: false, maxProviders: 10 });
  if ("faults" in read) throw new Error(JSON.stringify(read.faults));
  return read.input;
}

/** A council whose bridges each find what they are told to, quickly, and whose debate follows a script. */
async function hold(
  findings: Readonly<Record<string, Line>>,
  debate: Script = {},
  changes: object = {},
  models: Record<string, string> = {},
) {
  const script: Script = {};
  const player = createRolePlayer(
    new Proxy(script, {
      get: (_, name: string) => (request: RoleRequest) => {
        if (request.message.includes("council of several agents")) return lineOf(debate, request);
        const line = findings[request.provider] ?? { outputs: [] };
        // A runtime that fails does so for every role.
        return name.startsWith(expert) || (typeof line === "object" && "result" in line) ? line : { outputs: [] };
      },
    }),
  );
  const spending = createSpending(200);
  const events: Record<string, unknown>[] = [];
  const input = inputOf(changes);
  const common = {
    execute: player.execute,
    secondsLeft: () => 3_600,
    spending,
    log: (event: Record<string, unknown>) => void events.push(event),
    onProgress: () => {},
  };
  const members = Object.keys(findings).map(
    (bridge): Member => ({ bridge, provider: bridge, ...(models[bridge] && { model: models[bridge] }) }),
  );
  const report = await runDeepCouncil({
    ...common,
    input,
    members,
    leftOut: [],
    now: () => new Date("2026-11-21T10:00:00Z"),
    runMember: ({ bridge, provider }, own) =>
      runBridge({
        ...common,
        bridge,
        provider,
        input: { ...own, intensity: "quick" },
        profile: "inspect",
        remembers: false,
        timeoutMultiplier: 1,
      }),
  });
  return { report, player, events, input };
}
const lineOf = (script: Script, request: RoleRequest): Line => {
  const line = script[`${request.role} ${request.round}`] ?? script[request.role] ?? { outputs: [] };
  return typeof line === "function" ? line(request) : line;
};
const failing = (errorCode: string, error: string): Line => ({ result: { status: "error", errorCode, error, output: undefined } });

describe("a council of several bridges", () => {
  test("confirms what several say, keeps what one says, and adds what only shows together", async () => {
    const { report, player, events } = await hold(
      {
        claude: { outputs: [say("HIGH", "Tokens never expire"), say("LOW", "A typing mistake in the readme")] },
        codex: { outputs: [say("CRITICAL", "Tokens never expire at all")] },
        gemini: { outputs: [say("MEDIUM", "Retries have no limit")] },
      },
      {
        "Devil's Advocate 1": { challenges: [{ target_finding_id: "D002", challenge_text: "The client limits them." }] },
        "Integration Checker": { outputs: [say("HIGH", "Retries and tokens together lock everybody out")] },
        "Debate Coordinator 1": { outputs: [{ id: "D002", status: "downgraded", ...say("LOW", "Retries have no limit on the server") }] },
      },
    );
    expect(report).toMatchObject({
      type: "deep-council",
      review_id: "council-1",
      status: "COMPLETED",
      verdict: "FAIL",
      partial_coverage: false,
      bridges_available: ["claude", "codex", "gemini"],
      bridges_skipped: [],
      auto_skipped_halted_bridges: [],
      domains_covered: ["security"],
    });
    expect(report.multi_source_confirmed).toMatchObject([
      {
        id: "D001",
        severity: "CRITICAL",
        confirmed_by: ["claude", "codex"],
        escalated: true,
        shared_cli_path: true,
        domains: ["security"],
      },
    ]);
    expect(report.single_source_findings).toMatchObject([
      { id: "D002", severity: "LOW", status: "downgraded", source_bridge: "gemini" },
      { id: "D003", source_bridge: "claude", status: "confirmed" },
    ]);
    expect(report.integration_findings).toMatchObject([{ severity: "HIGH", status: "discovered", domains: ["cross-domain"] }]);
    expect(events).toContainEqual({ event: "stage_a", outputs: 4, merged: 3 });
    // Different bridges play the roles of the debate.
    const debaters = player.requests.filter(({ role }) => role === "Devil's Advocate" || role === "Debate Coordinator");
    expect(new Set(debaters.map(({ provider }) => provider)).size).toBe(2);
    expect(renderCouncil(report, { scope: "12 files" })).toContain("### D001 CRITICAL: Tokens never expire at all");
  });

  test("tells what stays disputed, with what each bridge thinks of it", async () => {
    const { report } = await hold(
      { claude: { outputs: [say("HIGH", "Tokens never expire")] }, codex: { outputs: [say("LOW", "Tokens never expire")] } },
      { "Devil's Advocate": { challenges: [{ target_finding_id: "D001", challenge_text: "They do." }] } },
    );
    expect(report.disputed_findings).toEqual([
      {
        id: "D001",
        title: "Tokens never expire",
        severity: "HIGH",
        positions: [
          { bridge: "claude", severity: "HIGH", position: "Tokens never expire" },
          { bridge: "codex", severity: "LOW", position: "Tokens never expire" },
        ],
        unresolved_challenge: "They do.",
      },
    ]);
    expect(report.multi_source_confirmed).toEqual([]);
    expect(report.verdict).toBe("CONCERNS");
  });

  test("goes on without bridges that cannot, and records those that a person could have mended", async () => {
    const { report } = await hold({
      claude: { outputs: [say("HIGH", "Tokens never expire")] },
      codex: failing("authentication_required", "Log in first."),
      gemini: failing("adapter_offline", "Not installed."),
    });
    expect(report).toMatchObject({
      status: "COMPLETED",
      partial_coverage: true,
      bridges_available: ["claude"],
      bridges_skipped: ["gemini", "codex"],
      bridges_halted: ["codex"],
      auto_skipped_halted_bridges: [{ bridge: "codex", halt_reason: "Log in first." }],
      skip_reasons: expect.arrayContaining([{ bridge: "gemini", reason: "adapter_offline: Not installed." }]),
      verdict: "CONCERNS",
    });
  });

  test("is aborted when nobody completed, and says what was tried", async () => {
    const { report } = await hold({ claude: failing("adapter_offline", "x"), codex: failing("authentication_required", "y") });
    expect(report).toMatchObject({
      status: "ABORTED",
      abort_reason: "No bridge completed.",
      bridges_attempted: ["claude", "codex"],
      bridges_skipped: ["claude", "codex"],
      bridges_halted: ["codex"],
      verdict: null,
    });
  });

  test("chooses its domains by what the text is about, where nobody has", async () => {
    const { player } = await hold(
      { claude: { outputs: [] } },
      {},
      { domains: [], scope: "the login endpoint and its SQL queries", intensity: "quick" },
    );
    expect([...new Set(player.requests.map(({ domain }) => domain))].sort()).toEqual(["api", "cross-domain", "database"]);
  });

  test("keeps its reports whole however few of the debaters answer", async () => {
    const { report, player } = await hold(
      { claude: { outputs: [say("MEDIUM", "Retries have no limit")] } },
      { "Devil's Advocate": "garbage", "Integration Checker": "", "Debate Coordinator": failing("runtime_crashed", "x") },
    );
    expect(report).toMatchObject({ status: "COMPLETED", verdict: "PASS", single_source_findings: [{ id: "D001" }], debate_rounds: 1 });
    expect(report.roles.every(({ answered }) => !answered)).toBe(true);
    expect(player.requests.filter(({ role }) => role === "Debate Coordinator")).toHaveLength(1);
  });
});

test("the debate is held on the models that the bridges were told to use", async () => {
  const { player } = await hold(
    { claude: { outputs: [say("HIGH", "Tokens never expire")] }, codex: { outputs: [] } },
    { "Debate Coordinator": { outputs: [{ id: "D001", status: "confirmed" }] } },
    {},
    { codex: "gpt-mine" },
  );
  const asked = player.requests.filter(({ message }) => message.includes("council of several agents"));
  expect(asked.map(({ provider }) => provider)).toEqual(expect.arrayContaining(["claude", "codex"]));
  for (const { provider, model } of asked) expect(model).toBe(provider === "codex" ? "gpt-mine" : undefined);
});

describe("the council's verdict", () => {
  const weighed = (severity: WeighedOutput["severity"], sources: number, more: Partial<WeighedOutput> = {}): WeighedOutput => ({
    type: "finding",
    severity,
    sources,
    status: "confirmed",
    isDeep: false,
    ...more,
  });
  test.each([
    ["a CRITICAL of two bridges", [weighed("CRITICAL", 2)], "FAIL"],
    ["a CRITICAL of one deep bridge", [weighed("CRITICAL", 1, { isDeep: true })], "FAIL"],
    ["a CRITICAL of one shallow bridge", [weighed("CRITICAL", 1)], "CONCERNS"],
    ["three HIGH of two bridges each", [weighed("HIGH", 2), weighed("HIGH", 2), weighed("HIGH", 3)], "FAIL"],
    ["three HIGH of one bridge each", [weighed("HIGH", 1), weighed("HIGH", 1), weighed("HIGH", 1)], "CONCERNS"],
    ["a disputed CRITICAL", [weighed("CRITICAL", 2, { status: "disputed" })], "CONCERNS"],
    ["a withdrawn CRITICAL", [weighed("CRITICAL", 2, { status: "withdrawn" })], "PASS"],
    ["three MEDIUM", [weighed("MEDIUM", 1), weighed("MEDIUM", 1), weighed("MEDIUM", 1)], "CONCERNS"],
    ["two MEDIUM", [weighed("MEDIUM", 2), weighed("MEDIUM", 2)], "PASS"],
    ["nothing", [], "PASS"],
  ] as const)("on %s is %s", (_what, outputs, verdict) => {
    expect(judgeCouncil("review", outputs)).toBe(verdict);
    expect(judgeCouncil("planning", outputs)).toBeNull();
  });
});

test.each([
  ["two HIGH gaps of two bridges each", ["HIGH", "HIGH"], 2, "FAIL"],
  ["two HIGH gaps of one shallow bridge", ["HIGH", "HIGH"], 1, "CONCERNS"],
  ["one HIGH gap of two bridges", ["HIGH"], 2, "CONCERNS"],
  ["one MEDIUM gap", ["MEDIUM"], 1, "CONCERNS"],
  ["gaps of LOW and INFO", ["LOW", "INFO"], 2, "PASS"],
] as const)("a council's audit on %s is %s", (_what, severities, sources, verdict) => {
  const gaps = severities.map((severity) => ({
    severity,
    type: "compliance-gap" as const,
    status: "confirmed" as const,
    sources,
    isDeep: false,
  }));
  expect(judgeCouncil("audit", gaps)).toBe(verdict);
});

test("what several say is put together under a new id, several voices first, and then by severity", () => {
  const output = (id: string, severity: "HIGH" | "LOW" | "CRITICAL", title: string) => ({
    ...say(severity, title),
    type: "finding" as const,
    severity,
    id,
    status: "confirmed" as const,
    domain: "api",
    agent: "A",
  });
  const nextId = createIds("M");
  const merged = mergeSources(
    [
      { source: "a", outputs: [output("C001", "CRITICAL", "alone by itself"), output("C002", "LOW", "lists have no limit")] },
      { source: "b", outputs: [output("X001", "HIGH", "lists have no limit")] },
      { source: "c", outputs: [output("G001", "HIGH", "lists have no limit")] },
    ],
    () => nextId(),
  );
  expect(merged).toMatchObject([
    { id: "M001", severity: "HIGH", sources: ["a", "b", "c"], escalated: true },
    { id: "M002", severity: "CRITICAL", sources: ["a"], escalated: false },
  ]);
});

describe("a runtime with several models", () => {
  const options = (script: Script) => {
    const player = createRolePlayer(script);
    return {
      player,
      given: {
        bridge: "opencode",
        provider: "opencode",
        input: inputOf({ intensity: "quick" }),
        profile: "inspect" as const,
        execute: player.execute,
        remembers: false,
        timeoutMultiplier: 1.5,
        secondsLeft: () => 3_600,
        spending: createSpending(100),
        log: () => {},
        onProgress: () => {},
      },
    };
  };

  test("runs them at the same time, and what two agree on comes first", async () => {
    const { player, given } = options({
      [expert]: ({ model }: RoleRequest) =>
        model === "glm/glm-4-7"
          ? { outputs: [say("LOW", "A typing mistake in the readme"), say("MEDIUM", "Tokens never expire")] }
          : model === "kimi/k2"
            ? { outputs: [say("HIGH", "Tokens never expire")] }
            : { result: { status: "error", errorCode: "model_error", output: undefined } },
      Challenger: ({ model }: RoleRequest): Line =>
        model === "bad/model" ? { result: { status: "error", errorCode: "model_error", output: undefined } } : { outputs: [] },
      "Integration Checker": ({ model }: RoleRequest): Line =>
        model === "bad/model" ? { result: { status: "error", errorCode: "model_error", output: undefined } } : { outputs: [] },
    });
    const report = await runModels(given, ["glm/glm-4-7", "kimi/k2", "bad/model"]);
    expect(player.mostAtOnce).toBe(9);
    expect(report).toMatchObject({
      status: "COMPLETED",
      dispatch_mode: "multi-model",
      models_configured: ["glm/glm-4-7", "kimi/k2", "bad/model"],
      models_used: ["glm/glm-4-7", "kimi/k2"],
      instances_spawned: 3,
      instances_completed: 2,
      intra_bridge_confirmed: ["O-merged-001"],
      outputs: [
        { id: "O-merged-001", severity: "HIGH", title: "Tokens never expire" },
        { id: "O-merged-002", severity: "LOW" },
      ],
      verdict: "CONCERNS",
    });
    expect(report.notes).toContainEqual(expect.stringMatching(/^bad\/model: SKIPPED/));
  });

  test("that differ in punctuation alone have ids of their own", async () => {
    const { given } = options({ [expert]: { outputs: [say("LOW", "A detail")] } });
    const spies: string[] = [];
    await runModels({ ...given, log: (event) => void spies.push(JSON.stringify(event)) }, ["glm/4-7", "glm/4:7"]);
    const ids = new Set(spies.join().match(/O-glm-4-7-(?:2-)?\d{3}/g));
    expect([...ids].toSorted()).toEqual(["O-glm-4-7-001", "O-glm-4-7-2-001"]);
  });

  test.each([
    [[], undefined],
    [["glm/glm-4-7"], "glm/glm-4-7"],
  ])("and %j is one run", async (models, model) => {
    const { player, given } = options({ [expert]: { outputs: [say("LOW", "A detail")] } });
    const report = await runModels(given, models);
    expect(player.requests.map((request) => request.model)).toEqual(Array.from({ length: 3 }, () => model));
    expect(report).toMatchObject({
      dispatch_mode: "single-model",
      instances_spawned: 1,
      instances_completed: 1,
      models_used: models,
      outputs: [{ id: "O001" }],
    });
  });
});
