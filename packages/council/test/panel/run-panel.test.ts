import { createTurns } from "@hak2i/async-kit";
import { type CouncilInput, countPlannedRuns, createSpending, readInput, runPanel, type Spending } from "bridge-council";
import { describe, expect, test } from "vitest";
import { createIds } from "../../src/ids.ts";
import { createRolePlayer, type Script, say } from "../role-player.ts";

const security = "Application Security Engineer";
const api = "API Designer";

function inputOf(changes: object = {}): CouncilInput {
  const given = {
    scope: "12 files",
    task_description: "Review it.",
    task_type: "review",
    domains: ["security", "api"],
    context_summary: "A service.",
    ...changes,
  };
  const read = readInput(given, "session-1", { needsDomains: true, maxProviders: 1 });
  if ("faults" in read) throw new Error(JSON.stringify(read.faults));
  return read.input;
}

async function run(
  script: Script,
  changes: object = {},
  options: {
    resumesSessions?: boolean;
    spending?: Spending;
    secondsLeft?: () => number;
    takeTurn?: Parameters<typeof runPanel>[0]["takeTurn"];
  } = {},
) {
  const { resumesSessions = false, spending = createSpending(100), secondsLeft = () => 3_600, takeTurn } = options;
  const player = createRolePlayer(script);
  const events: Record<string, unknown>[] = [];
  const progress: Record<string, unknown>[] = [];
  const report = await runPanel({
    bridge: "codex",
    provider: "codex",
    input: inputOf(changes),
    profile: "inspect",
    execute: player.execute,
    resumesSessions,
    timeoutMultiplier: 1,
    secondsLeft,
    spending,
    ...(takeTurn === undefined ? {} : { takeTurn }),
    log: (event) => void events.push(event),
    onProgress: (data) => void progress.push(data),
  });
  return { report, player, events, progress, spending };
}
const rounds = (player: { requests: { role: string; round: number }[] }, round: number) =>
  player.requests.filter((request) => request.round === round).map(({ role }) => role);

describe("a quick council", () => {
  test("a quick council asks all roles once, concurrently, and confirms the findings", async () => {
    const { report, player, events, progress, spending } = await run(
      {
        [security]: {
          outputs: [say("HIGH", "Tokens never expire"), say("LOW", "tokens never expire!")],
          summary: "Tokens are the problem.",
          confidence: "high",
        },
        Challenger: { outputs: [say("MEDIUM", "Nobody owns the keys")], confidence: "high" },
      },
      { intensity: "quick" },
    );
    expect(rounds(player, 1)).toEqual([security, api, "Challenger", "Integration Checker"]);
    expect(player.mostAtOnce).toBe(4);
    expect(player.requests).toHaveLength(countPlannedRuns(inputOf({ intensity: "quick" })));
    expect(player.requests[0]).toMatchObject({ timeoutSeconds: 90, profile: "inspect", domain: "security" });
    expect(report).toEqual({
      bridge: "codex",
      model_family: "openai/codex",
      connection_used: "cli",
      session_id: "session-1",
      task_type: "review",
      capability_profile: "inspect",
      status: "COMPLETED",
      skip_reason: null,
      halt_reason: null,
      halt_message: null,
      domains_covered: ["security", "api"],
      debate_rounds: 0,
      outputs: [
        { id: "X001", status: "confirmed", domain: "security", agent: security, ...say("HIGH", "Tokens never expire") },
        { id: "X003", status: "confirmed", domain: "cross-domain", agent: "Challenger", ...say("MEDIUM", "Nobody owns the keys") },
      ],
      withdrawn_outputs: [],
      disputed_outputs: [],
      verdict: "CONCERNS",
      confidence: "high",
      prompt_size_chars_r1: expect.any(Number),
      prompt_size_chars_r2: null,
      agents_spawned: 4,
      model_validation_warnings: [],
      reasoning_level: null,
      roles: expect.arrayContaining([
        { round: 1, role: security, domain: "security", answered: true, reason: null, summary: "Tokens are the problem." },
        { round: 1, role: api, domain: "api", answered: true, reason: null, summary: null },
      ]),
      notes: [],
      artifacts: [],
    });
    expect(events).toContainEqual({ event: "merge", kept: "X001", dropped: "X002", round: 1 });
    expect(events).toContainEqual({
      event: "output",
      id: "X001",
      severity: "HIGH",
      title: "Tokens never expire",
      domain: "security",
      round: 1,
    });
    expect(progress.filter(({ phase }) => phase === "analysis").map(({ done, of }) => `${done}/${of}`)).toEqual([
      "1/4",
      "2/4",
      "3/4",
      "4/4",
    ]);
    expect(spending).toMatchObject({ runs: 4, usage: { inputTokens: 40, outputTokens: 4 }, costUsd: 2 });
  });
});

describe("a standard council", () => {
  const script: Script = {
    [`${security} 1`]: {
      outputs: [say("CRITICAL", "Tokens never expire"), say("HIGH", "Logs hold passwords"), say("MEDIUM", "Cookies lack flags")],
    },
    [`${api} 1`]: {
      outputs: [say("HIGH", "Lists have no limit")],
      cross_domain_signals: [{ domain: "database", reason: "It reads the whole table." }],
    },
    "Challenger 2": {
      challenges: [
        { target_finding_id: "X001", challenge_text: "They expire after a day." },
        { target_finding_id: "X002", challenge_text: "Only in debug mode." },
        { target_finding_id: "X004", challenge_text: "There is a proxy." },
      ],
    },
    "Integration Checker 2": { outputs: [say("MEDIUM", "The proxy and the service disagree on time")] },
    [`${security} 2`]: {
      outputs: [
        { id: "X001", status: "withdrawn" },
        { id: "X002", status: "revised", ...say("LOW", "Logs hold passwords in debug mode") },
        { id: "X003", status: "confirmed" },
      ],
    },
    "Database Engineer 2": { outputs: [say("LOW", "An index is missing")] },
  };

  test("a standard council debates one round: challenged findings are withdrawn, revised or disputed, and a domain is added", async () => {
    const { report, player, events } = await run(script);
    expect(rounds(player, 2)).toEqual(["Challenger", "Integration Checker", security, api, "Database Engineer"]);
    expect(report).toMatchObject({
      status: "COMPLETED",
      debate_rounds: 1,
      verdict: "CONCERNS",
      domains_covered: ["security", "api", "database"],
    });
    expect(report.outputs.map(({ id, status, severity, domain }) => [id, status, severity, domain])).toEqual([
      ["X002", "revised", "LOW", "security"],
      ["X003", "confirmed", "MEDIUM", "security"],
      ["X004", "disputed", "HIGH", "api"],
      ["X005", "discovered", "MEDIUM", "cross-domain"],
      ["X006", "discovered", "LOW", "database"],
    ]);
    expect(report.withdrawn_outputs).toMatchObject([{ id: "X001", status: "withdrawn" }]);
    expect(report.disputed_outputs).toMatchObject([{ output: { id: "X004" }, unresolved_challenge: "There is a proxy." }]);
    expect(events).toContainEqual({ event: "domain_added", domain: "database", reason: "It reads the whole table.", round: 2 });
    expect(events.filter(({ event }) => event === "challenge")).toHaveLength(3);
  });

  test("a standard council sends each role its own material, and a new expert the reason why it was added", async () => {
    const { player } = await run(script);
    const promptOf = (role: string, round: number) =>
      player.requests.find((request) => request.role === role && request.round === round)?.message ?? "";
    expect(promptOf(security, 1)).toContain("DOMAIN: security");
    expect(promptOf(security, 1)).not.toContain("{scope}");
    expect(promptOf(security, 2)).toContain("They expire after a day.");
    expect(promptOf(security, 2)).toContain("SCOPE: 12 files");
    expect(promptOf(api, 2)).toMatch(/Challenges to them:\n.*There is a proxy/);
    expect(promptOf(api, 2).split("Challenges to them:")[1]).not.toContain("They expire after a day.");
    expect(promptOf("Database Engineer", 2)).toContain("It reads the whole table.");
    expect(promptOf("Database Engineer", 2)).toMatch(/The finding that concerns your domain:\n.*Lists have no limit/);
    expect(promptOf("Challenger", 2)).toContain("Tokens never expire");
  });

  test("a standard council continues the sessions of a runtime, and does not repeat the introduction of roles", async () => {
    const { player } = await run(script, {}, { resumesSessions: true });
    const [, second] = player.requests.filter(({ role }) => role === security);
    expect(second?.resumeToken).toMatch(/^session of Application Security Engineer/);
    expect(second?.message).not.toContain("SCOPE: 12 files");
    expect(second?.message).toContain("They expire after a day.");
    expect(player.requests.find(({ role }) => role === "Database Engineer")?.resumeToken).toBeUndefined();
  });

  test("a standard council sends no session and all material to a runtime that cannot resume sessions, although it returns one", async () => {
    const { player } = await run({ ...script, "Integration Checker 2": "prose" }, {}, { resumesSessions: false });
    expect(player.requests.filter(({ resumeToken }) => resumeToken !== undefined)).toEqual([]);
    expect(player.requests.filter(({ message }) => !message.includes("SCOPE: 12 files"))).toEqual([]);
  });

  test("a standard council has no debate without findings", async () => {
    const { report, player } = await run({});
    expect(player.requests).toHaveLength(4);
    expect(report).toMatchObject({ status: "COMPLETED", debate_rounds: 0, outputs: [], verdict: "PASS" });
  });
});

describe("a thorough council", () => {
  test("a thorough council continues until no challenge is open", async () => {
    const { report, player } = await run(
      {
        [`${security} 1`]: { outputs: [say("HIGH", "Tokens never expire")] },
        "Challenger 2": { challenges: [{ target_finding_id: "X001", challenge_text: "Why?" }] },
        [`${security} 2`]: { outputs: [say("LOW", "Something else that is new")] },
        "Challenger 3": { challenges: [] },
        [`${security} 3`]: { outputs: [{ id: "X001", status: "confirmed" }] },
      },
      { intensity: "thorough" },
    );
    // The third round lets the Challenger reply to the defense of the second one.
    expect(report.debate_rounds).toBe(3);
    expect(report.outputs.map(({ status }) => status)).toEqual(["confirmed", "discovered"]);
    expect(report["prompt_size_chars_r4"]).toEqual(expect.any(Number));
    expect(player.requests.find(({ role, round }) => role === "Challenger" && round === 4)?.message).toContain('"state":"defended"');
  });

  const challenge = (status: string) => ({ challenges: [{ target_finding_id: "X001", challenge_text: "Why?", status }] });
  const defend = { outputs: [{ id: "X001", status: "confirmed" }] };
  test.each<[string, Script, number, string]>([
    ["nothing is challenged", {}, 1, "confirmed"],
    [
      "the finding is withdrawn at once",
      { "Challenger 2": challenge("raised"), [`${security} 2`]: { outputs: [{ id: "X001", status: "withdrawn" }] } },
      1,
      "withdrawn",
    ],
    [
      "the finding is revised at once",
      { "Challenger 2": challenge("raised"), [`${security} 2`]: { outputs: [{ id: "X001", status: "revised", severity: "LOW" }] } },
      1,
      "revised",
    ],
    [
      "the Challenger accepts the defense",
      { "Challenger 2": challenge("raised"), [`${security} 2`]: defend, "Challenger 3": challenge("withdrawn") },
      2,
      "confirmed",
    ],
    ["the Challenger does not repeat its challenge", { "Challenger 2": challenge("raised"), [`${security} 2`]: defend }, 2, "confirmed"],
    ["a discovery comes before the Challenger", { "Integration Checker 2": { outputs: [say("LOW", "Clocks differ")] } }, 2, "confirmed"],
    [
      "the Challenger is lost and comes back",
      { "Challenger 2": challenge("raised"), [`${security} 2`]: defend, "Challenger 3": "prose", "Challenger 4": challenge("escalated") },
      2,
      "confirmed",
    ],
    [
      "both maintain their view",
      { Challenger: challenge("escalated"), [`${security} 2`]: defend, [`${security} 3`]: defend, [`${security} 4`]: defend },
      3,
      "disputed",
    ],
  ])("when %s has the expected number of rounds", async (_when, debate, debateRounds, status) => {
    const { report, player } = await run(
      { [`${security} 1`]: { outputs: [say("HIGH", "Tokens never expire")] }, ...debate },
      { intensity: "thorough", domains: ["security"] },
    );
    expect(report.debate_rounds).toBe(debateRounds);
    expect(new Set(player.requests.map(({ round }) => round)).size).toBe(1 + debateRounds);
    const ended = [...report.outputs, ...report.withdrawn_outputs].find(({ id }) => id === "X001");
    expect(ended?.status).toBe(status);
  });

  test("a thorough council has at most three rounds, and findings that both sides maintain are disputed", async () => {
    const again = { challenges: [{ target_finding_id: "X001", challenge_text: "Still not.", status: "escalated" }] };
    const found = createIds("number");
    const defend = () => {
      const name = found();
      return { outputs: [{ id: "X001", status: "confirmed" }, say("LOW", `A new matter called ${name}`, { description: name })] };
    };
    const { report, player } = await run(
      { [`${security} 1`]: { outputs: [say("HIGH", "Tokens never expire")] }, Challenger: again, [security]: defend },
      { intensity: "thorough", domains: ["security"] },
    );
    expect([...new Set(player.requests.map(({ round }) => round))]).toEqual([1, 2, 3, 4]);
    expect(report.debate_rounds).toBe(3);
    expect(report.disputed_outputs.map(({ output }) => output.id)).toEqual(["X001"]);
  });
});

describe("a signal to an active domain", () => {
  const signal = (reason: string) => ({ outputs: [], cross_domain_signals: [{ domain: "security", reason }] });

  test("a signal to an active domain reaches its expert with the reason and the finding, and the log", async () => {
    const { player, events } = await run({
      [`${api} 1`]: {
        outputs: [say("LOW", "Lists have no limit")],
        ...{ cross_domain_signals: [{ domain: "security", reason: "Anybody can list them." }] },
      },
      "Integration Checker 2": signal("The proxy trusts the header."),
    });
    const asked = player.requests.find(({ role, round }) => role === security && round === 2)?.message;
    expect(asked).toContain(
      `Other roles ask you to look at this, and to report what follows from it for your domain:\n${JSON.stringify([
        { from: api, finding_id: "X001", reason: "Anybody can list them." },
        { from: "Integration Checker", finding_id: null, reason: "The proxy trusts the header." },
      ])}`,
    );
    expect(player.requests.filter(({ message }) => message.includes("Anybody can list them."))).toHaveLength(1);
    expect(events).toContainEqual({ event: "signal", from: api, domain: "security", reason: "Anybody can list them.", round: 1 });
  });

  test("a signal to an active domain in the last answers of a thorough council causes another round if one is left", async () => {
    const { report, player } = await run(
      { [`${security} 1`]: { outputs: [say("HIGH", "Tokens never expire")] }, [`${api} 2`]: signal("Look at the list.") },
      { intensity: "thorough" },
    );
    expect(report.debate_rounds).toBe(2);
    expect(player.requests.find(({ role, round }) => role === security && round === 3)?.message).toContain("Look at the list.");
  });

  test.each(["quick", "standard"])(
    "a signal to an active domain for which a %s council has no round left is noted in its report",
    async (intensity) => {
      const { report } = await run(
        {
          [`${security} 1`]: { outputs: [say("HIGH", "Tokens never expire")] },
          [`${api} ${intensity === "quick" ? 1 : 2}`]: signal("Look at the list."),
        },
        { intensity },
      );
      expect(report.notes).toEqual([`${api} asked the expert of security to look at something, and no round was left: Look at the list.`]);
    },
  );

  test("a signal to an active domain is cut if there are many, so that the prompt stays within its limit", async () => {
    const many = {
      outputs: [say("LOW", "Lists have no limit")],
      cross_domain_signals: Array.from({ length: 20 }, () => ({ domain: "security", reason: "r".repeat(1_000) })),
    };
    const { player } = await run({ [`${api} 1`]: many, "Challenger 1": many, "Integration Checker 1": many });
    const asked = player.requests.find(({ role, round }) => role === security && round === 2)?.message ?? "";
    expect(asked.match(/r{300}/g)).toHaveLength(20);
    expect(asked).toContain("40 more requests are left out.");
  });
});

test("an expert that raises the severity of its finding in the debate changes the verdict", async () => {
  const { report, events } = await run(
    {
      [`${security} 1`]: { outputs: [say("MEDIUM", "Tokens never expire")] },
      [`${security} 2`]: { outputs: [say("CRITICAL", "Tokens never expire")] },
    },
    { domains: ["security"] },
  );
  expect(report).toMatchObject({ verdict: "FAIL", outputs: [{ severity: "CRITICAL", status: "revised", title: "Tokens never expire" }] });
  expect(events).toContainEqual({ event: "merge", kept: "X002", dropped: "X001", round: 2 });
});

test("roles that may change the project are asked one after another", async () => {
  const turns = createTurns();
  const { player, report } = await run(
    { [security]: { outputs: [say("HIGH", "Tokens never expire")] } },
    { task_type: "implementation" },
    { takeTurn: (work) => turns.take("workspace", work) },
  );
  expect([player.mostAtOnce, report.status, player.requests.length]).toEqual([1, "COMPLETED", 8]);
});

describe("invalid answers", () => {
  test("invalid answers are requested once more, and the second answer counts", async () => {
    const { report, player } = await run(
      {
        [security]: ({ message }) =>
          message.startsWith("Your last answer") ? { outputs: [say("LOW", "A detail")] } : "I think it is fine.",
      },
      { intensity: "quick" },
    );
    expect(report.outputs).toMatchObject([{ title: "A detail" }]);
    const [first, second] = player.requests.filter(({ role }) => role === security);
    expect(second?.message).toContain("I think it is fine.");
    expect(second?.message.endsWith(first?.message ?? "")).toBe(true);
    expect(report.notes).toEqual([`${security}, round 1: was asked twice, because its first answer contained no readable JSON object.`]);
    expect(report.prompt_size_chars_r1).toBe(second?.message.length);
  });

  test("invalid answers are requested once more in the session of the role, which contains the question", async () => {
    const { player } = await run(
      { [security]: ({ resumeToken }) => (resumeToken === undefined ? "I think it is fine." : { outputs: [say("LOW", "A detail")] }) },
      { intensity: "quick" },
      { resumesSessions: true },
    );
    const [, second] = player.requests.filter(({ role }) => role === security);
    expect(second?.resumeToken).toMatch(/^session of Application Security Engineer/);
    expect(second?.message).not.toContain("SCOPE: 12 files");
    expect(second?.message).not.toContain("I think it is fine.");
  });

  test("invalid answers that are followed by an empty one do not count as answered", async () => {
    const { report } = await run(
      { [security]: ({ message }) => (message.startsWith("Your last answer") ? { outputs: [], summary: "Nothing." } : "I doubt it.") },
      { intensity: "quick" },
    );
    expect(report.roles).toContainEqual(
      expect.objectContaining({ role: security, answered: false, reason: "unreadable answer, then an empty one" }),
    );
    expect(report).toMatchObject({ domains_covered: ["api"], confidence: "low", notes: [] });
  });

  test("invalid answers are reported if they stay invalid, and lower the confidence of the report", async () => {
    const { report, events } = await run({ [security]: "no", [api]: { outputs: [], confidence: "high" } }, { intensity: "quick" });
    expect(report).toMatchObject({ status: "COMPLETED", domains_covered: ["api"], confidence: "medium" });
    expect(report.roles).toContainEqual({
      round: 1,
      role: security,
      domain: "security",
      answered: false,
      reason: "unreadable answer, twice",
      summary: null,
    });
    expect(events).toContainEqual(expect.objectContaining({ event: "role_lost", role: security }));
  });

  test.each([
    ["adapter_offline", "gone", { status: "SKIPPED", skip_reason: "adapter_offline: gone" }],
    ["timeout", "late", { status: "SKIPPED", skip_reason: "timeout_after_180s" }],
    ["output_invalid", "?", { status: "SKIPPED", skip_reason: "output_invalid: ?" }],
    ["authentication_required", "log in", { status: "HALTED", halt_reason: "authentication_required", halt_message: "log in" }],
    ["cancelled", "stopped", { status: "ABORTED", skip_reason: null }],
  ])("invalid answers of a runtime that fails every role with %s determine the report status", async (errorCode, error, expected) => {
    const failing = { result: { status: "error" as const, errorCode, error, output: undefined } };
    const { report, player } = await run({ [security]: failing, [api]: failing, Challenger: failing, "Integration Checker": failing });
    expect(report).toMatchObject({ ...expected, debate_rounds: null, verdict: null, outputs: [], confidence: null });
    expect(player.requests).toHaveLength(4);
    // A missing runtime had no agents, no connection and no prompt.
    const wasThere = errorCode !== "adapter_offline";
    expect([report.agents_spawned, report.connection_used, typeof report.prompt_size_chars_r1]).toEqual(
      wasThere ? [4, "cli", "number"] : [0, null, "object"],
    );
  });

  test("invalid answers of every role end as output_invalid, with an explanation", async () => {
    const { report } = await run({ [security]: "no", [api]: "no", Challenger: "no", "Integration Checker": "no" });
    expect(report).toMatchObject({ status: "SKIPPED", skip_reason: "output_invalid: unreadable answer, twice", agents_spawned: 4 });
  });

  test("invalid answers of a runtime that crashes in the debate leave a report of the findings so far", async () => {
    const gone = { result: { status: "error" as const, errorCode: "runtime_crashed", output: undefined } };
    const { report } = await run({
      [`${security} 1`]: { outputs: [say("HIGH", "Tokens never expire")] },
      "Challenger 2": gone,
      "Integration Checker 2": gone,
      [`${security} 2`]: gone,
      [`${api} 2`]: gone,
    });
    // A round in which no role answered does not count as a debate.
    expect(report).toMatchObject({ status: "COMPLETED", debate_rounds: 0, verdict: "CONCERNS", outputs: [{ id: "X001" }] });
    expect(report.roles.filter(({ answered }) => !answered)).toHaveLength(4);
  });
});

test("a runtime that is canceled in the debate reports no partial findings", async () => {
  const { report } = await run({
    [`${security} 1`]: { outputs: [say("HIGH", "Tokens never expire")] },
    "Challenger 2": { result: { status: "error", errorCode: "cancelled" } },
  });
  expect(report.status).toBe("ABORTED");
});

test("without time for a debate the report contains the first round", async () => {
  let left = 200;
  const { report, player } = await run(
    {
      [security]: () => {
        left = 0;
        return { outputs: [say("HIGH", "Tokens never expire")] };
      },
    },
    {},
    { secondsLeft: () => left },
  );
  expect(player.requests).toHaveLength(4);
  expect(report).toMatchObject({ status: "COMPLETED", debate_rounds: 0, verdict: "CONCERNS" });
});

test("no more prompts are sent than allowed, and no expert is added without remaining prompts", async () => {
  const spending = createSpending(countPlannedRuns(inputOf()));
  const { report, player } = await run(
    {
      [`${security} 1`]: { outputs: [say("HIGH", "Tokens never expire")], cross_domain_signals: [{ domain: "database", reason: "rows" }] },
    },
    {},
    { spending },
  );
  expect(player.requests).toHaveLength(8);
  expect(report.outputs).toContainEqual(expect.objectContaining({ agent: "consolidation", title: "Not examined: database" }));
});
