import { createSpending, type RoleRequest, runModels } from "bridge-council";
import { describe, expect, test } from "vitest";
import { createIds } from "../src/ids.ts";
import { mergeSources } from "../src/reports/merge-sources.ts";
import { renderCouncil } from "../src/reports/render-council.ts";
import { judgeCouncil, type WeighedOutput } from "../src/reports/verdict.ts";
import { expert, failing, hold, holdCouncil, inputOf } from "./hold-council.ts";
import { createRolePlayer, type Line, type Script, say } from "./role-player.ts";

describe("a council of several bridges", () => {
  test("a council of several bridges confirms findings of several bridges, keeps findings of one, and adds findings of the Integration Checker", async () => {
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

  test("a council of several bridges reports disputed findings with the position of each bridge", async () => {
    const { report } = await hold(
      { claude: { outputs: [say("HIGH", "Tokens never expire")] }, codex: { outputs: [say("LOW", "Tokens never expire")] } },
      { "Devil's Advocate": { challenges: [{ target_finding_id: "D001", challenge_text: "They do." }] } },
    );
    expect(report.disputed_findings).toEqual([
      {
        ...say("HIGH", "Tokens never expire"),
        id: "D001",
        status: "disputed",
        domains: ["security"],
        positions: [
          { bridge: "claude", id: "C001", severity: "HIGH", position: "Tokens never expire" },
          { bridge: "codex", id: "X001", severity: "LOW", position: "Tokens never expire" },
        ],
        unresolved_challenge: "They do.",
      },
    ]);
    expect(renderCouncil(report, { scope: "12 files" })).toContain(
      "### D001 HIGH: Tokens never expire\n\ndisputed, security, by claude, codex",
    );
    expect(report.multi_source_confirmed).toEqual([]);
    expect(report.verdict).toBe("CONCERNS");
  });

  test("a council of several bridges continues without failed bridges, and records those that need a user", async () => {
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
      skip_reasons: [
        { bridge: "gemini", reason: "adapter_offline: Not installed." },
        { bridge: "codex", reason: "authentication_required: Log in first." },
      ],
      verdict: "CONCERNS",
    });
  });

  test("a council of several bridges is aborted when no bridge completed, and reports all attempts", async () => {
    const { report } = await hold({ claude: failing("adapter_offline", "x"), codex: failing("authentication_required", "y") });
    expect(report).toMatchObject({
      status: "ABORTED",
      abort_reason: "No runtime completed its part of the council.",
      partial_coverage: true,
      bridges_attempted: ["claude", "codex"],
      bridges_skipped: ["claude", "codex"],
      bridges_halted: ["codex"],
      verdict: null,
    });
  });

  test("a council of several bridges chooses its domains from the text if the input names none", async () => {
    const { player } = await hold(
      { claude: { outputs: [] } },
      {},
      { domains: [], scope: "the login endpoint and its SQL queries", intensity: "quick" },
    );
    expect([...new Set(player.requests.map(({ domain }) => domain))].sort()).toEqual(["api", "cross-domain", "database", "security"]);
  });

  test("a council of several bridges keeps the reports of bridges complete although debaters do not answer", async () => {
    const { report, player } = await hold(
      { claude: { outputs: [say("MEDIUM", "Retries have no limit")] } },
      { "Devil's Advocate": "garbage", "Integration Checker": "", "Debate Coordinator": failing("runtime_crashed", "x") },
    );
    expect(report).toMatchObject({ status: "COMPLETED", verdict: "PASS", single_source_findings: [{ id: "D001" }], debate_rounds: 0 });
    expect(report.roles.every(({ answered }) => !answered)).toBe(true);
    expect(player.requests.filter(({ role }) => role === "Debate Coordinator")).toHaveLength(1);
    expect(report.synthesis_notes).toEqual([
      "The Devil's Advocate did not answer in round 1 of the council's debate: unreadable answer, twice.",
      "The Integration Checker did not answer in round 1 of the council's debate: unreadable answer, twice.",
      "The Debate Coordinator did not answer in round 1 of the council's debate: runtime_crashed: x.",
    ]);
  });

  // This role knows only the ids in the prompt that it answers.
  const challengeWhatIsQuoted = ({ message }: RoleRequest) => ({
    challenges: (message.match(/D\d{3}/) ?? []).map((id) => ({ target_finding_id: id, challenge_text: "They do." })),
  });

  test("a council of several bridges asks a Devil's Advocate again after an invalid answer, with its whole question, and continues with the second answer", async () => {
    const { report, player } = await hold(
      { claude: { outputs: [say("HIGH", "Tokens never expire")] } },
      {
        "Devil's Advocate": (request) =>
          request.message.startsWith("Your last answer") ? challengeWhatIsQuoted(request) : "I doubt that they never expire.",
      },
    );
    const asked = player.requests.filter(({ role, round }) => role === "Devil's Advocate" && round === 1);
    expect(asked).toHaveLength(2);
    expect(asked[1]?.message).toContain("I doubt that they never expire.");
    expect(asked[1]?.message.endsWith(asked[0]?.message ?? "")).toBe(true);
    expect(report.disputed_findings).toMatchObject([{ id: "D001", unresolved_challenge: "They do." }]);
    expect(report.synthesis_notes).toEqual(
      [1, 2].map(
        (round) => `Devil's Advocate, round ${round}: was asked twice, because its first answer contained no readable JSON object.`,
      ),
    );
  });

  test("a council of several bridges asks a Devil's Advocate again in its session, if its runtime resumes sessions", async () => {
    const sessions = new Map<string | undefined, RoleRequest>();
    const { report, player } = await holdCouncil({
      bridges: { claude: [] },
      bridge: ({ role }) => (role === expert ? { outputs: [say("HIGH", "Tokens never expire")] } : { outputs: [] }),
      debate: {
        "Devil's Advocate 1": (request) => {
          const earlier = sessions.get(request.resumeToken?.replace(/\d+$/, ""));
          sessions.set("session of Devil's Advocate ", request);
          return earlier === undefined ? "I doubt that they never expire." : challengeWhatIsQuoted(earlier);
        },
      },
      intensity: "quick",
      resumesSessions: true,
    });
    const asked = player.requests.filter(({ role, round }) => role === "Devil's Advocate" && round === 1);
    expect(asked).toHaveLength(2);
    expect(asked[1]?.message).not.toContain("D001");
    expect(report.disputed_findings).toMatchObject([{ id: "D001", unresolved_challenge: "They do." }]);
  });

  test("a council of several bridges does not count a Devil's Advocate as answered whose answer is unreadable and then empty", async () => {
    const { report } = await hold(
      { claude: { outputs: [say("HIGH", "Tokens never expire")] } },
      { "Devil's Advocate": ({ message }) => (message.startsWith("Your last answer") ? { challenges: [] } : "I doubt the finding.") },
    );
    expect(report.roles.find(({ role, round }) => role === "Devil's Advocate" && round === 1)).toMatchObject({ answered: false });
    expect(report.synthesis_notes).toContain(
      "The Devil's Advocate did not answer in round 1 of the council's debate: unreadable answer, then an empty one.",
    );
  });

  test("a council of several bridges records in the log which findings of its debate it merges", async () => {
    const { events } = await hold(
      { claude: { outputs: [say("LOW", "A typing mistake in the readme")] } },
      {
        "Integration Checker 1": {
          outputs: [
            say("MEDIUM", "Retries and tokens together lock everybody out"),
            say("HIGH", "Retries and tokens together lock everybody out"),
          ],
        },
      },
    );
    expect(events.filter(({ event, round }) => event === "merge" && round === 1)).toEqual([
      { event: "merge", kept: "I002", dropped: "I001", round: 1 },
    ]);
  });

  test.each([
    ["quick", 0],
    ["standard", 2],
    ["thorough", 3],
  ])("a council of several bridges with intensity %s debates the findings in at most %i rounds", async (intensity, rounds) => {
    const titles = ["Tokens never expire", "Retries have no limit", "Logs hold passwords", "Backups are not encrypted"];
    const { report, player } = await hold(
      { claude: { outputs: titles.map((title) => say("HIGH", title)) } },
      { "Devil's Advocate": ({ round }) => ({ challenges: [{ target_finding_id: `D00${round}`, challenge_text: "Show it." }] }) },
      { intensity },
    );
    expect(report.debate_rounds).toBe(rounds);
    expect(player.requests.filter(({ role }) => role === "Debate Coordinator").map(({ round }) => round)).toEqual(
      [1, 2, 3].slice(0, rounds),
    );
  });

  test.each([
    ["everybody completes", {}, [], false],
    ["one is skipped", { codex: failing("adapter_offline", "x") }, [], true],
    ["one needs a person", { codex: failing("authentication_required", "x") }, [], true],
    ["one is left out from the beginning", {}, [{ bridge: "gemini", reason: "disabled" }], true],
  ])(
    "a council of several bridges has partial coverage unless all bridges complete: %s",
    async (_what, others, skippedRuntimes, partial_coverage) => {
      const findings: Record<string, Line> = { claude: { outputs: [] }, ...others };
      const { report } = await holdCouncil({
        bridges: Object.fromEntries(Object.keys(findings).map((name) => [name, []])),
        bridge: ({ provider }) => findings[provider] ?? { outputs: [] },
        debate: {},
        skippedRuntimes,
        intensity: "quick",
      });
      expect(report).toMatchObject({ status: "COMPLETED", partial_coverage });
    },
  );

  test("without an available bridge has partial coverage", async () => {
    const { report } = await holdCouncil({
      bridges: {},
      bridge: () => ({ outputs: [] }),
      debate: {},
      skippedRuntimes: [{ bridge: "claude", reason: "not loaded" }],
    });
    expect(report).toMatchObject({ status: "ABORTED", partial_coverage: true, bridges_skipped: ["claude"] });
  });

  test("a council of several bridges logs the council id of each output of a bridge, and the provider of every event", async () => {
    const { events, progress } = await hold({
      claude: { outputs: [say("HIGH", "Tokens never expire")] },
      codex: { outputs: [say("LOW", "Tokens never expire")] },
    });
    expect(events).toContainEqual({ event: "output", id: "D001", severity: "HIGH", title: "Tokens never expire", domain: "security" });
    expect(events.filter(({ event }) => event === "merge")).toEqual([
      { event: "merge", kept: "D001", dropped: "C001", bridge: "claude" },
      { event: "merge", kept: "D001", dropped: "X001", bridge: "codex" },
    ]);
    expect(
      progress.map(({ phase, provider }) => [phase, provider]).filter(([, provider]) => provider !== "claude" && provider !== "codex"),
    ).toEqual([]);
    for (const provider of ["claude", "codex"]) {
      const own = progress.filter((data) => data["phase"] === "analysis" && data["provider"] === provider);
      expect(own.map(({ done, of }) => `${done}/${of}`)).toEqual(["1/3", "2/3", "3/3"]);
    }
  });
});

test("the debate runs on the configured models of the bridges", async () => {
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

test("similar findings are merged under a new id, sorted by number of sources and then by severity", () => {
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
      { source: "a", outputs: [output("C001", "CRITICAL", "alone by itself"), output("C002", "LOW", "lists have no limit")], disputed: [] },
      { source: "b", outputs: [output("X001", "HIGH", "lists have no limit")], disputed: [] },
      { source: "c", outputs: [output("G001", "HIGH", "lists have no limit")], disputed: [] },
    ],
    nextId,
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
        resumesSessions: false,
        timeoutMultiplier: 1.5,
        secondsLeft: () => 3_600,
        spending: createSpending(100),
        log: () => {},
        onProgress: () => {},
      },
    };
  };

  test("a runtime with several models runs them concurrently, and lists findings of two models first", async () => {
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

  test("a runtime with several models gives models that differ in punctuation only distinct ids", async () => {
    const { given } = options({ [expert]: { outputs: [say("LOW", "A detail")] } });
    const spies: string[] = [];
    await runModels({ ...given, log: (event) => void spies.push(JSON.stringify(event)) }, ["glm/4-7", "glm/4:7"]);
    const ids = new Set(spies.join().match(/O-glm-4-7-(?:2-)?\d{3}/g));
    expect([...ids].toSorted()).toEqual(["O-glm-4-7-001", "O-glm-4-7-2-001"]);
  });

  test.each([
    [[], undefined],
    [["glm/glm-4-7"], "glm/glm-4-7"],
  ])("a runtime with several models runs one council for %j", async (models, model) => {
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
