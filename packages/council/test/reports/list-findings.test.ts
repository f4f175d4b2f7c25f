import { type CouncilReport, createSpending, type RoleRequest, runModels } from "bridge-council";
import { describe, expect, test } from "vitest";
import { expert, holdCouncil, inputOf } from "../hold-council.ts";
import { createRolePlayer, type Line, say } from "../role-player.ts";

type State = "confirmed" | "revised" | "discovered" | "disputed";
type Decision = "confirmed" | "downgraded" | "withdrawn" | "disputed" | "none";
type List = "multi_source_confirmed" | "single_source_findings" | "disputed_findings" | "withdrawn_findings";

const title = "Tokens never expire";

/** The answers that give the one finding of a runtime this state: those of its roles in rounds 1 and 2. */
function answersTo(state: State, severity: string, id: string): Record<string, object> {
  const found = { outputs: [say(severity, title)] };
  const challenge = { challenges: [{ target_finding_id: id, challenge_text: "They do." }] };
  if (state === "discovered") return { [`${expert} 1`]: { outputs: [say("INFO", "A remark on nothing else")] }, [`${expert} 2`]: found };
  if (state === "confirmed") return { [`${expert} 1`]: found };
  if (state === "disputed") return { [`${expert} 1`]: found, "Challenger 2": challenge };
  return {
    [`${expert} 1`]: { outputs: [say("LOW", title)] },
    "Challenger 2": challenge,
    [`${expert} 2`]: { outputs: [{ id, status: "revised", severity }] },
  };
}

const ids: Readonly<Record<string, string>> = { claude: "C", codex: "X" };

function council(states: Readonly<Record<string, State>>, decision: Decision, severity = "CRITICAL") {
  return holdCouncil({
    bridges: Object.fromEntries(Object.keys(states).map((name) => [name, []])),
    bridge({ provider, role, round }): Line {
      const state = states[provider] ?? "confirmed";
      return answersTo(state, severity, `${ids[provider]}001`)[`${role} ${round}`] ?? { outputs: [] };
    },
    debate: {
      "Debate Coordinator 1": {
        outputs: decision === "none" ? [] : [{ id: "D001", status: decision, ...(decision === "downgraded" && { severity: "LOW" }) }],
      },
    },
  });
}

const listOf = (report: CouncilReport): string[] =>
  (["multi_source_confirmed", "single_source_findings", "disputed_findings", "withdrawn_findings", "integration_findings"] as const).filter(
    (name) => report[name].some((finding) => finding.title === title),
  );

describe("a CRITICAL finding of one bridge", () => {
  test.each<[State, Decision, List, string, string]>([
    ["confirmed", "none", "single_source_findings", "confirmed", "FAIL"],
    ["confirmed", "confirmed", "single_source_findings", "confirmed", "FAIL"],
    ["confirmed", "downgraded", "single_source_findings", "downgraded", "PASS"],
    ["confirmed", "withdrawn", "withdrawn_findings", "withdrawn", "PASS"],
    ["confirmed", "disputed", "disputed_findings", "disputed", "CONCERNS"],
    ["revised", "none", "single_source_findings", "revised", "FAIL"],
    ["revised", "confirmed", "single_source_findings", "revised", "FAIL"],
    ["revised", "downgraded", "single_source_findings", "downgraded", "PASS"],
    ["revised", "withdrawn", "withdrawn_findings", "withdrawn", "PASS"],
    ["revised", "disputed", "disputed_findings", "disputed", "CONCERNS"],
    ["discovered", "none", "single_source_findings", "discovered", "FAIL"],
    ["discovered", "confirmed", "single_source_findings", "discovered", "FAIL"],
    ["discovered", "downgraded", "single_source_findings", "downgraded", "PASS"],
    ["discovered", "withdrawn", "withdrawn_findings", "withdrawn", "PASS"],
    ["discovered", "disputed", "disputed_findings", "disputed", "CONCERNS"],
    ["disputed", "none", "disputed_findings", "disputed", "CONCERNS"],
    ["disputed", "confirmed", "single_source_findings", "confirmed", "FAIL"],
    ["disputed", "downgraded", "single_source_findings", "downgraded", "PASS"],
    ["disputed", "withdrawn", "withdrawn_findings", "withdrawn", "PASS"],
    ["disputed", "disputed", "disputed_findings", "disputed", "CONCERNS"],
  ])(
    "a CRITICAL finding of one bridge that is %s and that the coordinator decides as %s is in %s as %s: %s",
    async (state, decision, list, status, verdict) => {
      const { report } = await council({ claude: state }, decision);
      expect(report.bridge_reports[0]?.outputs.find((output) => output.title === title)?.status).toBe(state);
      expect(listOf(report)).toEqual([list]);
      expect(report[list].find((finding) => finding.title === title)).toMatchObject({
        status,
        positions: [expect.objectContaining({ bridge: "claude" })],
      });
      expect(report.verdict).toBe(verdict);
    },
  );

  test("disputed keeps its text and the challenge in the report and in its Markdown", async () => {
    const { report } = await council({ claude: "disputed" }, "none", "HIGH");
    expect(report.disputed_findings).toMatchObject([
      { id: "D001", severity: "HIGH", evidence: "a.ts:1", unresolved_challenge: "They do.", positions: [{ bridge: "claude", id: "C001" }] },
    ]);
  });
});

describe("a CRITICAL finding of two bridges", () => {
  test.each<[State, State, Decision, List, string]>([
    ["confirmed", "confirmed", "none", "multi_source_confirmed", "FAIL"],
    // One bridge reports it undisputed with the same severity.
    ["confirmed", "disputed", "none", "multi_source_confirmed", "FAIL"],
    ["disputed", "disputed", "none", "disputed_findings", "CONCERNS"],
    ["disputed", "disputed", "confirmed", "multi_source_confirmed", "FAIL"],
    ["disputed", "disputed", "withdrawn", "withdrawn_findings", "PASS"],
  ])(
    "a CRITICAL finding of two bridges that are %s and %s and that the coordinator decides as %s is in %s: %s",
    async (left, right, decision, list, verdict) => {
      const { report } = await council({ claude: left, codex: right }, decision);
      expect(listOf(report)).toEqual([list]);
      expect(report[list]).toMatchObject([
        {
          positions: [
            { bridge: "claude", id: "C001" },
            { bridge: "codex", id: "X001" },
          ],
        },
      ]);
      expect(report.verdict).toBe(verdict);
    },
  );
});

test("a disputed finding of the council's own Integration Checker is in one list only", async () => {
  const { report } = await holdCouncil({
    bridges: { claude: [] },
    bridge: ({ role, round }) => (role === expert && round === 1 ? { outputs: [say("LOW", title)] } : { outputs: [] }),
    debate: {
      "Integration Checker 1": { outputs: [say("HIGH", "Retries lock everybody out")] },
      "Devil's Advocate 2": { challenges: [{ target_finding_id: "I001", challenge_text: "There are none." }] },
    },
  });
  expect(report.debate_rounds).toBe(2);
  expect(report.integration_findings).toEqual([]);
  expect(report.disputed_findings).toMatchObject([{ id: "I001", positions: [], unresolved_challenge: "There are none." }]);
});

test("the coordinator decides about findings of the council's own Integration Checker", async () => {
  const { report } = await holdCouncil({
    bridges: { claude: [] },
    bridge: ({ role, round }) => (role === expert && round === 1 ? { outputs: [say("LOW", title)] } : { outputs: [] }),
    debate: {
      "Integration Checker 1": { outputs: [say("HIGH", "Retries lock everybody out")] },
      "Debate Coordinator 1": { outputs: [{ id: "I001", status: "withdrawn" }] },
    },
  });
  expect([report.integration_findings, report.withdrawn_findings.map(({ id }) => id), report.verdict]).toEqual([[], ["I001"], "PASS"]);
});

test("a finding that three domains of one bridge report is one finding of the council, with its domains", async () => {
  const { report } = await holdCouncil({
    bridges: { claude: [] },
    bridge: ({ role, round }) =>
      round === 1 && role !== "Challenger" ? { outputs: [say(role === expert ? "HIGH" : "MEDIUM", title)] } : { outputs: [] },
    debate: {},
    changes: { domains: ["security", "api"] },
    intensity: "quick",
  });
  expect(report.bridge_reports[0]?.outputs.filter((output) => output.title === title)).toHaveLength(3);
  expect(report.single_source_findings.filter((finding) => finding.title === title)).toMatchObject([
    { severity: "HIGH", domains: ["security", "api", "cross-domain"], positions: [{ id: "C001" }, { id: "C002" }, { id: "C003" }] },
  ]);
});

describe("two models of one runtime", () => {
  const optionsOf = (player: ReturnType<typeof createRolePlayer>) => ({
    bridge: "opencode",
    provider: "opencode",
    input: inputOf(),
    profile: "inspect" as const,
    execute: player.execute,
    resumesSessions: false,
    timeoutMultiplier: 1,
    secondsLeft: () => 3_600,
    spending: createSpending(100),
    log: () => {},
    onProgress: () => {},
  });
  type Outcome = { severity: string; isDisputed: boolean };
  /** Each model has one finding, whose expert answers the challenge or not. */
  async function models(one: Outcome, two: Outcome) {
    const outcomeOf = ({ model }: RoleRequest): Outcome => (model === "one" ? one : two);
    const player = createRolePlayer((request): Line => {
      const { severity, isDisputed } = outcomeOf(request);
      const id = `O-${request.model}-001`;
      const answers: Record<string, object> = {
        [`${expert} 1`]: { outputs: [say(severity, title)] },
        "Challenger 2": { challenges: [{ target_finding_id: id, challenge_text: `They do, says ${request.model}.` }] },
        [`${expert} 2`]: { outputs: isDisputed ? [] : [{ id, status: "confirmed" }] },
      };
      return answers[`${request.role} ${request.round}`] ?? { outputs: [] };
    });
    const events: Record<string, unknown>[] = [];
    const progress: Record<string, unknown>[] = [];
    const report = await runModels(
      { ...optionsOf(player), log: (event) => void events.push(event), onProgress: (data) => void progress.push(data) },
      ["one", "two"],
    );
    return { report, events, progress };
  }

  test.each([
    ["both confirm it", "HIGH", false, "MEDIUM", false, "HIGH", "confirmed"],
    ["the graver one confirms it, the other one disputes it", "HIGH", false, "MEDIUM", true, "HIGH", "confirmed"],
    ["the graver one disputes it, the other one confirms it", "HIGH", true, "MEDIUM", false, "HIGH", "disputed"],
    ["one of two that are equally grave disputes it", "HIGH", true, "HIGH", false, "HIGH", "confirmed"],
    ["both dispute it", "MEDIUM", true, "HIGH", true, "HIGH", "disputed"],
  ])(
    "two models of one runtime make one finding if %s, and every list agrees on it",
    async (_what, one, oneDisputes, two, twoDisputes, severity, status) => {
      const { report } = await models({ severity: one, isDisputed: oneDisputes }, { severity: two, isDisputed: twoDisputes });
      expect(report.outputs).toMatchObject([{ id: "O-merged-001", severity, status }]);
      expect(report.disputed_outputs.map(({ output }) => output)).toEqual(status === "disputed" ? report.outputs : []);
      expect(report.intra_bridge_confirmed).toEqual(status === "disputed" ? [] : ["O-merged-001"]);
      expect(report.verdict).toBe("CONCERNS");
    },
  );

  test("two models of one runtime keep the challenge of the version with the higher severity", async () => {
    const { report } = await models({ severity: "MEDIUM", isDisputed: true }, { severity: "HIGH", isDisputed: true });
    expect(report.disputed_outputs).toMatchObject([{ unresolved_challenge: "They do, says two." }]);
  });

  test("two models of one runtime report the withdrawn findings of each", async () => {
    const player = createRolePlayer({
      [`${expert} 1`]: { outputs: [say("HIGH", title)] },
      [`${expert} 2`]: ({ model }: RoleRequest): Line => ({ outputs: [{ id: `O-${model}-001`, status: "withdrawn" }] }),
    });
    const report = await runModels(optionsOf(player), ["one", "two"]);
    expect(report).toMatchObject({ outputs: [], withdrawn_outputs: [{ id: "O-one-001" }, { id: "O-two-001" }], verdict: "PASS" });
  });

  test("two models of one runtime log the model of each line, each merge and the final ids", async () => {
    const { events, progress } = await models({ severity: "HIGH", isDisputed: false }, { severity: "LOW", isDisputed: true });
    const of = (name: string) => events.filter(({ event }) => event === name);
    expect(of("dispatch").map(({ model }) => model)).toEqual(["one", "two"]);
    expect(of("preflight").map(({ model }) => model)).toEqual(["one", "two"]);
    expect(
      of("challenge")
        .map(({ id, model }) => `${model} ${id}`)
        .toSorted(),
    ).toEqual(["one CH001", "two CH001"]);
    expect(of("merge")).toEqual([
      { event: "merge", kept: "O-merged-001", dropped: "O-one-001", model: "one" },
      { event: "merge", kept: "O-merged-001", dropped: "O-two-001", model: "two" },
    ]);
    expect(of("output").at(-1)).toEqual({ event: "output", id: "O-merged-001", severity: "HIGH", title, domain: "security" });
    expect(new Set(progress.map(({ model, provider }) => `${provider} ${model}`))).toEqual(new Set(["opencode one", "opencode two"]));
  });
});
