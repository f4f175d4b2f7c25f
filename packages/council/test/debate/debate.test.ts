import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createDebate, hasEnded } from "../../src/debate/debate.ts";
import type { Speaker } from "../../src/debate/findings.ts";
import type { Answer, AnsweredChallenge, AnsweredOutput } from "../../src/prompts/read-answer.ts";
import type { Output } from "../../src/types.ts";

const security: Speaker = { domain: "security", agent: "Security" };
const api: Speaker = { domain: "api", agent: "Api" };
const challenger: Speaker = { domain: "cross-domain", agent: "Challenger" };
const integration: Speaker = { domain: "cross-domain", agent: "Integration Checker" };

const answer = (changes: Partial<Answer>): Answer => ({
  outputs: [],
  challenges: [],
  signals: [],
  summary: null,
  confidence: null,
  notes: [],
  ...changes,
});
const found = (title: string, changes: Partial<AnsweredOutput> = {}): AnsweredOutput => ({
  ref: null,
  type: "finding",
  severity: "HIGH",
  title,
  description: `About ${title}`,
  evidence: null,
  action: null,
  decision: null,
  ...changes,
});
const objection = (targetId: string, changes: Partial<AnsweredChallenge> = {}): AnsweredChallenge => ({
  ref: null,
  targetId,
  text: "Why?",
  decision: "raised",
  ...changes,
});

/** Two experts with one finding each, in a first debate round that has started. */
function open() {
  const debate = createDebate(["security", "api"], "X");
  debate.applyOpeningAnswer(security, answer({ outputs: [found("tokens never expire")] }));
  debate.applyOpeningAnswer(api, answer({ outputs: [found("pages have no limit")] }));
  debate.beginRound(2, []);
  return debate;
}

describe("a finding ends", () => {
  const statuses = (debate: ReturnType<typeof open>) => Object.fromEntries(debate.conclude().outputs.map(({ id, status }) => [id, status]));

  test("confirmed, when it is not challenged or the expert defends it", () => {
    const debate = open();
    debate.applyChallenges(challenger, answer({ challenges: [objection("X001")] }));
    debate.applyAnswer(security, answer({ outputs: [found("", { ref: "X001", decision: "confirmed" })] }));
    expect(statuses(debate)).toEqual({ X001: "confirmed", X002: "confirmed" });
  });

  test("revised, with the text of the revision", () => {
    const debate = open();
    debate.applyChallenges(challenger, answer({ challenges: [objection("X001")] }));
    debate.applyAnswer(
      security,
      answer({ outputs: [found("tokens live for a year", { ref: "X001", decision: "revised", severity: "LOW" })] }),
    );
    expect(debate.conclude().outputs[0]).toMatchObject({ id: "X001", status: "revised", severity: "LOW", title: "tokens live for a year" });
    expect(debate.changes.revised).toBe(1);
  });

  test("withdrawn, and is listed with the withdrawn outputs only", () => {
    const debate = open();
    debate.applyAnswer(security, answer({ outputs: [found("", { ref: "X001", decision: "withdrawn" })] }));
    const { outputs, withdrawn } = debate.conclude();
    expect(outputs.map(({ id }) => id)).toEqual(["X002"]);
    expect(withdrawn).toMatchObject([{ id: "X001", status: "withdrawn" }]);
  });

  test("disputed, with the challenge, when its expert does not answer", () => {
    const debate = open();
    debate.applyChallenges(challenger, answer({ challenges: [objection("X001", { text: "It does expire." })] }));
    debate.applyAnswer(security, answer({}));
    expect(statuses(debate)["X001"]).toBe("disputed");
    expect(debate.conclude().disputed).toMatchObject([{ output: { id: "X001" }, unresolved_challenge: "It does expire." }]);
  });

  test("disputed, when the Challenger maintains the challenge and the expert defends the finding again", () => {
    const debate = open();
    debate.applyChallenges(challenger, answer({ challenges: [objection("X001")] }));
    debate.applyAnswer(security, answer({ outputs: [found("", { ref: "X001", decision: "confirmed" })] }));
    debate.beginRound(3, []);
    debate.applyChallenges(
      challenger,
      answer({ challenges: [objection("X001", { ref: "CH001", decision: "escalated", text: "Still." })] }),
    );
    debate.applyAnswer(security, answer({ outputs: [found("", { ref: "X001", decision: "confirmed" })] }));
    expect(debate.hasUnsettled).toBe(true);
    expect(debate.conclude().disputed).toMatchObject([{ output: { id: "X001" }, unresolved_challenge: "Still." }]);
  });

  test("confirmed, when the Challenger does not repeat its challenge after a second defense", () => {
    const debate = open();
    const defend = () => debate.applyAnswer(security, answer({ outputs: [found("", { ref: "X001", decision: "confirmed" })] }));
    debate.applyChallenges(challenger, answer({ challenges: [objection("X001")] }));
    defend();
    debate.beginRound(3, []);
    debate.applyChallenges(challenger, answer({ challenges: [objection("X001", { ref: "CH001", decision: "escalated" })] }));
    defend();
    debate.beginRound(4, []);
    debate.applyChallenges(challenger, answer({}));
    expect(debate.hasUnsettled).toBe(false);
    expect(debate.conclude().disputed).toEqual([]);
  });

  test("disputed, when the Challenger maintains a challenge after a revision and the expert does not answer", () => {
    const debate = open();
    debate.applyChallenges(challenger, answer({ challenges: [objection("X001")] }));
    debate.applyAnswer(security, answer({ outputs: [found("", { ref: "X001", decision: "revised", description: "", severity: "LOW" })] }));
    debate.beginRound(3, []);
    debate.applyChallenges(
      challenger,
      answer({ challenges: [objection("X001", { ref: "CH001", decision: "escalated", text: "Even so." })] }),
    );
    expect(debate.conclude().disputed).toMatchObject([{ output: { id: "X001", severity: "LOW" }, unresolved_challenge: "Even so." }]);
  });

  test("confirmed, when the Challenger withdraws the challenge", () => {
    const debate = open();
    debate.applyChallenges(challenger, answer({ challenges: [objection("X001")] }));
    debate.beginRound(3, []);
    debate.applyChallenges(challenger, answer({ challenges: [objection("X001", { ref: "CH001", decision: "withdrawn" })] }));
    expect(statuses(debate)["X001"]).toBe("confirmed");
  });

  test("discovered, when it was found in the debate", () => {
    const debate = open();
    debate.applyAnswer(integration, answer({ outputs: [found("both sides trust the other's check")] }));
    expect(debate.conclude().outputs[2]).toMatchObject({
      id: "X003",
      status: "discovered",
      domain: "cross-domain",
      agent: "Integration Checker",
    });
  });
});

describe("a role cannot", () => {
  test("a role cannot change the finding of another role: its text becomes a separate finding", () => {
    const debate = open();
    debate.applyAnswer(
      api,
      answer({
        outputs: [
          found("tokens are fine", { ref: "X001", decision: "revised", severity: "INFO" }),
          found("", { ref: "X001", decision: "withdrawn" }),
        ],
      }),
    );
    debate.applyAnswer(challenger, answer({ outputs: [found("", { ref: "X002", decision: "withdrawn" })] }));
    const { outputs, withdrawn } = debate.conclude();
    expect(withdrawn).toEqual([]);
    expect(outputs).toMatchObject([
      { id: "X001", title: "tokens never expire", severity: "HIGH", domain: "security" },
      { id: "X002", domain: "api" },
      { id: "X003", title: "tokens are fine", domain: "api", agent: "Api" },
    ]);
  });

  test("challenge a missing or withdrawn finding or its own finding", () => {
    const debate = open();
    debate.applyAnswer(challenger, answer({ outputs: [found("all of it is guessed")] }));
    debate.applyAnswer(security, answer({ outputs: [found("", { ref: "X001", decision: "withdrawn" })] }));
    const { raised } = debate.applyChallenges(
      challenger,
      answer({ challenges: [objection("X001"), objection("X003"), objection("X999")] }),
    );
    expect(raised).toEqual([]);
  });

  test("a role cannot report a finding twice: a repetition is not new, and a challenge to a merged finding applies to the kept one", () => {
    const debate = open();
    expect(debate.applyAnswer(security, answer({ outputs: [found("tokens never expire")] }))).toEqual([]);
    debate.applyChallenges(challenger, answer({ challenges: [objection("X001")] }));
    debate.applyAnswer(security, answer({ outputs: [found("sessions outlive logout", { description: "Cookies stay good." })] }));
    debate.applyAnswer(
      security,
      answer({
        outputs: [
          found("sessions outlive logout", { ref: "X001", decision: "revised", description: "Cookies stay good.", severity: "LOW" }),
        ],
      }),
    );
    expect(debate.mergeDuplicates()).toEqual([{ keptId: "X003", droppedId: "X001" }]);
    expect(debate.challenges).toMatchObject([{ targetId: "X003", state: "settled" }]);
  });
});

describe("a finding that is repeated with a higher severity in a debate round", () => {
  const repeat = (changes: Partial<AnsweredOutput>) => {
    const debate = open();
    debate.applyAnswer(security, answer({ outputs: [found("tokens never expire", { severity: "CRITICAL", ...changes })] }));
    return { debate, merges: debate.mergeDuplicates() };
  };

  test("without its id is kept at the higher severity as a revision, and the merge is reported", () => {
    const { debate, merges } = repeat({});
    expect(merges).toEqual([{ keptId: "X003", droppedId: "X001" }]);
    expect(debate.changes).toMatchObject({ discovered: 0, revised: 1 });
    expect(debate.listStanding()).toMatchObject([{ id: "X002" }, { id: "X003", severity: "CRITICAL", status: "revised" }]);
  });

  test("a finding that is repeated with a higher severity in a debate round with its id and without a status is revised to the higher severity", () => {
    const { debate, merges } = repeat({ ref: "X001" });
    expect(merges).toEqual([]);
    expect(debate.listStanding()).toMatchObject([{ id: "X001", severity: "CRITICAL", status: "revised" }, { id: "X002" }]);
  });

  test("a finding that is repeated with a higher severity in a debate round with its id as confirmed is revised to the higher severity, and stays defended", () => {
    const debate = open();
    debate.applyChallenges(challenger, answer({ challenges: [objection("X001")] }));
    debate.applyAnswer(security, answer({ outputs: [found("", { ref: "X001", decision: "confirmed", severity: "CRITICAL" })] }));
    expect(debate.listStanding()).toMatchObject([{ id: "X001", severity: "CRITICAL", status: "revised" }, { id: "X002" }]);
    expect(debate.challenges).toMatchObject([{ state: "defended" }]);
  });

  test("a finding that is repeated with a higher severity in a debate round with its id as confirmed at a lower severity keeps its severity", () => {
    const debate = open();
    debate.applyAnswer(security, answer({ outputs: [found("", { ref: "X001", decision: "confirmed", severity: "LOW" })] }));
    expect(debate.listStanding()).toMatchObject([{ id: "X001", severity: "HIGH", status: "confirmed" }, { id: "X002" }]);
  });

  test("a finding that is repeated with a higher severity in a debate round keeps its first id", () => {
    const { debate } = repeat({});
    debate.applyChallenges(challenger, answer({ challenges: [objection("X001")] }));
    expect(debate.listOpenChallenges("security")).toMatchObject([{ targetId: "X003" }]);
    debate.applyAnswer(security, answer({ outputs: [found("", { ref: "X001", decision: "withdrawn" })] }));
    expect(debate.conclude().withdrawn).toMatchObject([{ id: "X003" }]);
  });

  test.each(["HIGH", "LOW"] as const)(
    "a finding that is repeated with a higher severity in a debate round is unchanged when the repetition has the severity %s",
    (severity) => {
      const { debate, merges } = repeat({ severity });
      expect([merges, debate.changes.discovered]).toEqual([[], 0]);
      expect(debate.listStanding()).toMatchObject([{ id: "X001", severity: "HIGH" }, { id: "X002" }]);
    },
  );
});

describe("findings that are imported from other debates", () => {
  const judge: Speaker = { domain: "cross-domain", agent: "Debate Coordinator" };
  const output = (id: string, changes: Partial<Output> = {}): Output => ({
    id,
    type: "finding",
    severity: "HIGH",
    status: "confirmed",
    title: `Title of ${id}`,
    description: `About ${id}`,
    evidence: null,
    action: null,
    domain: "security",
    agent: "Security",
    ...changes,
  });
  function takeOver(...outputs: Output[]) {
    const debate = createDebate(["security"], "I", { judge });
    debate.importOutputs(
      outputs.map((given) => ({ output: given, unresolved_challenge: given.status === "disputed" ? "They do." : null })),
    );
    debate.beginRound(2, []);
    return debate;
  }

  test("findings that are imported from other debates can only be changed by the judge", () => {
    const debate = takeOver(output("D001"));
    for (const speaker of [security, integration])
      debate.applyAnswer(speaker, answer({ outputs: [found("", { ref: "D001", decision: "withdrawn" })] }));
    expect(debate.listStanding()).toHaveLength(1);
    debate.applyAnswer(judge, answer({ outputs: [found("", { ref: "D001", decision: "withdrawn" })] }));
    expect(debate.listStanding()).toEqual([]);
  });

  test("findings that are imported from other debates stay disputed with their challenge until the judge decides", () => {
    const debate = takeOver(output("D001", { status: "disputed" }));
    expect(debate.hasUnsettled).toBe(true);
    expect(debate.describeRound().open_challenges).toMatchObject([{ target_finding_id: "D001", challenge_text: "They do." }]);
    expect(debate.conclude().disputed).toMatchObject([{ output: { id: "D001", status: "disputed" }, unresolved_challenge: "They do." }]);
    debate.applyAnswer(judge, answer({ outputs: [found("", { ref: "D001", decision: "confirmed" })] }));
    expect(debate.hasUnsettled).toBe(false);
    expect(debate.conclude()).toMatchObject({ outputs: [{ id: "D001", status: "confirmed" }], disputed: [] });
  });

  test("findings that are imported from other debates are never merged, and a repetition of one is not a finding", () => {
    const alike = { title: "Tokens never expire", description: "About tokens" };
    const debate = takeOver(output("D001", alike), output("D002", { ...alike, severity: "LOW" }));
    expect(debate.applyAnswer(integration, answer({ outputs: [found("Tokens never expire", { description: "About tokens" })] }))).toEqual(
      [],
    );
    expect(debate.mergeDuplicates()).toEqual([]);
    expect(debate.listStanding()).toHaveLength(2);
  });

  test("findings that are imported from other debates keep both challenges when the Challenger adds one", () => {
    const debate = takeOver(output("D001", { status: "disputed" }));
    debate.applyChallenges(challenger, answer({ challenges: [objection("D001", { text: "Where?" })] }));
    expect(debate.conclude().disputed).toMatchObject([{ unresolved_challenge: "They do.\nWhere?" }]);
  });
});

describe("a requested domain", () => {
  test("a requested domain is wanted once, with the finding that caused the request, until it is active", () => {
    const debate = createDebate(["security"], "X");
    debate.applyOpeningAnswer(
      security,
      answer({
        outputs: [found("one", { ref: "a" }), found("two", { ref: "b" })],
        signals: [
          { domain: "database", reason: "rows", findingId: "b" },
          { domain: "database", reason: "again", findingId: null },
          { domain: "security", reason: "myself", findingId: null },
        ],
      }),
    );
    expect(debate.wantedDomains).toEqual([{ domain: "database", trigger_finding_id: "X002", reason: "rows" }]);
    // The second reason also waits for the expert.
    expect(debate.takeRequests("database")).toEqual([{ domain: "database", from: "Security", finding_id: "X001", reason: "again" }]);
    expect(hasEnded(debate)).toBe(false);
    debate.beginRound(2, debate.wantedDomains);
    expect(debate.activeDomains).toEqual(["security", "database"]);
    expect(debate.describeRound()).toMatchObject({
      newly_added_domains: [{ domain: "database" }],
      synthesis: expect.stringContaining("Added: database."),
    });
  });

  test("a requested domain is named in the report if no expert joins", () => {
    const debate = createDebate(["security"], "X");
    debate.applyOpeningAnswer(
      security,
      answer({ outputs: [found("one")], signals: [{ domain: "database", reason: "rows", findingId: null }] }),
    );
    expect(debate.conclude().outputs[1]).toMatchObject({
      type: "observation",
      severity: null,
      domain: "cross-domain",
      agent: "consolidation",
      title: "Not examined: database",
    });
  });
});

test("domains that report similar findings with different severities are in conflict in the packet and in the result", () => {
  const debate = createDebate(["security", "api"], "X");
  debate.applyOpeningAnswer(security, answer({ outputs: [found("tokens never expire")] }));
  debate.applyOpeningAnswer(api, answer({ outputs: [found("tokens never expire", { severity: "LOW" })] }));
  expect(debate.describeRound().conflicts).toEqual([{ finding_ids: ["X001", "X002"], about: "tokens never expire" }]);
  expect(debate.conclude().outputs[2]).toMatchObject({
    agent: "consolidation",
    title: "Domains weigh it differently: tokens never expire",
  });
});

test("a signal to an active domain is a request to its expert, returned once with its reason", () => {
  const debate = open();
  debate.applyAnswer(api, answer({ signals: [{ domain: "security", reason: "Who may read the pages?", findingId: "X002" }] }));
  debate.applyAnswer(security, answer({ signals: [{ domain: "security", reason: "myself", findingId: null }] }));
  expect([debate.wantedDomains, debate.openRequests.length]).toEqual([[], 1]);
  expect(debate.takeRequests("security")).toEqual([
    { domain: "security", from: "Api", finding_id: "X002", reason: "Who may read the pages?" },
  ]);
  expect([debate.takeRequests("security"), debate.openRequests]).toEqual([[], []]);
});

describe("a debate ends", () => {
  const still = { discovered: 0, revised: 0, withdrawn: 0, challenged: 0, defended: 0 };
  const settled = { changes: still, hasUnsettled: false, openRequests: [], wantedDomains: [] };
  test.each([
    ["when nothing changed", { hasUnsettled: true }, true],
    ["when every challenge is settled", { changes: { ...still, revised: 1, challenged: 1 } }, true],
    ["not while a challenge waits", { changes: { ...still, challenged: 1 }, hasUnsettled: true }, false],
    ["not while a defense waits", { changes: { ...still, defended: 1 }, hasUnsettled: true }, false],
    ["not before the Challenger has seen a discovery", { changes: { ...still, discovered: 1 } }, false],
    [
      "not while an expert waits for what was asked of it",
      { openRequests: [{ domain: "api", from: "Security", finding_id: null, reason: "" }] },
      false,
    ],
    ["not while a domain waits", { wantedDomains: [{ domain: "api", trigger_finding_id: null, reason: "" }] }, false],
  ])("%s", (_when, state, ended) => {
    expect(hasEnded({ ...settled, ...state })).toBe(ended);
  });
});

test("no answer loses a finding, changes its owner or causes an unknown state", () => {
  const speakers = [security, api, challenger, integration];
  const ref = fc.option(fc.constantFrom("X001", "X002", "X003", "X004", "CH001", "X999"), { nil: null });
  const output = fc.record({
    ref,
    type: fc.constant("finding" as const),
    severity: fc.constantFrom("CRITICAL" as const, "LOW" as const),
    title: fc.constantFrom("", "one thing", "another matter", "tokens never expire"),
    description: fc.constantFrom("here", "there and everywhere"),
    evidence: fc.constant(null),
    action: fc.constant(null),
    decision: fc.constantFrom("confirmed" as const, "revised" as const, "withdrawn" as const, null),
  });
  const challenge = fc.record({
    ref,
    targetId: fc.constantFrom("X001", "X002", "X003", "X999"),
    text: fc.constant("Why?"),
    decision: fc.constantFrom("raised" as const, "escalated" as const, "withdrawn" as const),
  });
  const turn = fc.record({
    who: fc.integer({ min: 0, max: 3 }),
    outputs: fc.array(output, { maxLength: 3 }),
    challenges: fc.array(challenge, { maxLength: 2 }),
  });
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 12 }), (turns) => {
      const debate = open();
      const authors = new Map(debate.listStanding().map(({ id, agent, domain }) => [id, `${agent} ${domain}`]));
      const dropped = new Set<string>();
      for (const [index, { who, outputs, challenges }] of turns.entries()) {
        const speaker = speakers[who] ?? security;
        const added =
          who === 2
            ? debate.applyChallenges(speaker, answer({ outputs, challenges })).found
            : debate.applyAnswer(speaker, answer({ outputs }));
        for (const { id, agent, domain } of added) {
          expect(`${agent} ${domain}`).toBe(`${speaker.agent} ${speaker.domain}`);
          authors.set(id, `${agent} ${domain}`);
        }
        for (const { droppedId } of debate.mergeDuplicates()) dropped.add(droppedId);
        if (index % 4 === 3) debate.beginRound(3 + index, []);
      }
      const { outputs, withdrawn, disputed } = debate.conclude();
      for (const { id, agent, domain } of [...outputs, ...withdrawn])
        if (agent !== "consolidation") expect(authors.get(id)).toBe(`${agent} ${domain}`);
      const ended = [...outputs.filter(({ agent }) => agent !== "consolidation"), ...withdrawn].map(({ id }) => id);
      // No finding is lost, and none is in two lists.
      expect([...ended, ...dropped].toSorted()).toEqual([...authors.keys()].toSorted());
      for (const { status } of outputs) expect(["confirmed", "revised", "disputed", "discovered"]).toContain(status);
      for (const { status } of withdrawn) expect(status).toBe("withdrawn");
      expect(disputed.map(({ output }) => output.id)).toEqual(outputs.filter(({ status }) => status === "disputed").map(({ id }) => id));
    }),
    { numRuns: 300 },
  );
});
