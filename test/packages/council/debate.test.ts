import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createDebate, type Speaker } from "../../../packages/council/src/debate.ts";
import type { Answer, AnsweredChallenge, AnsweredOutput } from "../../../packages/council/src/read-answer.ts";
import { hasEnded } from "../../../packages/council/src/run-bridge.ts";

const security: Speaker = { domain: "security", agent: "Security" };
const api: Speaker = { domain: "api", agent: "Api" };
const challenger: Speaker = { domain: "cross-domain", agent: "Challenger" };
const integration: Speaker = { domain: "cross-domain", agent: "Integration Checker" };

const said = (changes: Partial<Answer>): Answer => ({
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

/** Two experts with one finding each, and a first debate round that has begun. */
function open() {
  const debate = createDebate(["security", "api"], "X");
  debate.hearFirst(security, said({ outputs: [found("tokens never expire")] }));
  debate.hearFirst(api, said({ outputs: [found("pages have no limit")] }));
  debate.beginRound(2, []);
  return debate;
}

describe("a finding ends", () => {
  const statuses = (debate: ReturnType<typeof open>) => Object.fromEntries(debate.conclude().outputs.map(({ id, status }) => [id, status]));

  test("confirmed, when nobody objects or the expert defends it", () => {
    const debate = open();
    debate.hearChallenger(challenger, said({ challenges: [objection("X001")] }));
    debate.hearExpert(security, said({ outputs: [found("", { ref: "X001", decision: "confirmed" })] }));
    expect(debate.hasUnresolved).toBe(false);
    expect(statuses(debate)).toEqual({ X001: "confirmed", X002: "confirmed" });
  });

  test("revised, in the words of the revision", () => {
    const debate = open();
    debate.hearChallenger(challenger, said({ challenges: [objection("X001")] }));
    debate.hearExpert(
      security,
      said({ outputs: [found("tokens live for a year", { ref: "X001", decision: "revised", severity: "LOW" })] }),
    );
    expect(debate.conclude().outputs[0]).toMatchObject({ id: "X001", status: "revised", severity: "LOW", title: "tokens live for a year" });
    expect(debate.changes.revised).toBe(1);
  });

  test("withdrawn, and then among the withdrawn ones only", () => {
    const debate = open();
    debate.hearExpert(security, said({ outputs: [found("", { ref: "X001", decision: "withdrawn" })] }));
    const { outputs, withdrawn } = debate.conclude();
    expect(outputs.map(({ id }) => id)).toEqual(["X002"]);
    expect(withdrawn).toMatchObject([{ id: "X001", status: "withdrawn" }]);
  });

  test("disputed, when its expert does not answer, with the challenge beside it", () => {
    const debate = open();
    debate.hearChallenger(challenger, said({ challenges: [objection("X001", { text: "It does expire." })] }));
    debate.hearExpert(security, said({}));
    expect(statuses(debate)["X001"]).toBe("disputed");
    expect(debate.conclude().disputed).toMatchObject([{ output: { id: "X001" }, unresolved_challenge: "It does expire." }]);
  });

  test("disputed, when the Challenger stays with it after the defence and the expert defends it again", () => {
    const debate = open();
    debate.hearChallenger(challenger, said({ challenges: [objection("X001")] }));
    debate.hearExpert(security, said({ outputs: [found("", { ref: "X001", decision: "confirmed" })] }));
    debate.beginRound(3, []);
    debate.hearChallenger(challenger, said({ challenges: [objection("X001", { ref: "CH001", decision: "escalated", text: "Still." })] }));
    debate.hearExpert(security, said({ outputs: [found("", { ref: "X001", decision: "confirmed" })] }));
    expect(debate.hasUnresolved).toBe(true);
    expect(debate.conclude().disputed).toMatchObject([{ output: { id: "X001" }, unresolved_challenge: "Still." }]);
  });

  test("confirmed, when the Challenger takes the challenge back", () => {
    const debate = open();
    debate.hearChallenger(challenger, said({ challenges: [objection("X001")] }));
    debate.beginRound(3, []);
    debate.hearChallenger(challenger, said({ challenges: [objection("X001", { ref: "CH001", decision: "withdrawn" })] }));
    expect(statuses(debate)["X001"]).toBe("confirmed");
  });

  test("discovered, when it came up in the debate", () => {
    const debate = open();
    debate.hearExpert(integration, said({ outputs: [found("both sides trust the other's check")] }));
    expect(debate.conclude().outputs[2]).toMatchObject({
      id: "X003",
      status: "discovered",
      domain: "cross-domain",
      agent: "Integration Checker",
    });
  });
});

describe("nobody", () => {
  test("changes somebody else's finding: what was said stands as one's own", () => {
    const debate = open();
    debate.hearExpert(
      api,
      said({
        outputs: [
          found("tokens are fine", { ref: "X001", decision: "revised", severity: "INFO" }),
          found("", { ref: "X001", decision: "withdrawn" }),
        ],
      }),
    );
    debate.hearExpert(challenger, said({ outputs: [found("", { ref: "X002", decision: "withdrawn" })] }));
    const { outputs, withdrawn } = debate.conclude();
    expect(withdrawn).toEqual([]);
    expect(outputs).toMatchObject([
      { id: "X001", title: "tokens never expire", severity: "HIGH", domain: "security" },
      { id: "X002", domain: "api" },
      { id: "X003", title: "tokens are fine", domain: "api", agent: "Api" },
    ]);
  });

  test("challenges what is not there, what is withdrawn, or what is one's own", () => {
    const debate = open();
    debate.hearExpert(challenger, said({ outputs: [found("all of it is guessed")] }));
    debate.hearExpert(security, said({ outputs: [found("", { ref: "X001", decision: "withdrawn" })] }));
    const { raised } = debate.hearChallenger(challenger, said({ challenges: [objection("X001"), objection("X003"), objection("X999")] }));
    expect(raised).toEqual([]);
  });

  test("says the same twice: what is found again is not new, and a challenge to what was merged goes on to what is kept", () => {
    const debate = open();
    expect(debate.hearExpert(security, said({ outputs: [found("tokens never expire")] }))).toEqual([]);
    debate.hearChallenger(challenger, said({ challenges: [objection("X001")] }));
    debate.hearExpert(security, said({ outputs: [found("sessions outlive logout", { description: "Cookies stay good." })] }));
    debate.hearExpert(
      security,
      said({
        outputs: [
          found("sessions outlive logout", { ref: "X001", decision: "revised", description: "Cookies stay good.", severity: "LOW" }),
        ],
      }),
    );
    expect(debate.mergeDuplicates()).toEqual([{ keptId: "X003", droppedId: "X001" }]);
    expect(debate.challenges).toMatchObject([{ targetId: "X003", state: "settled" }]);
  });
});

describe("a domain that is called for", () => {
  test("is wanted once, with the finding that called for it, until it is active", () => {
    const debate = createDebate(["security"], "X");
    debate.hearFirst(
      security,
      said({
        outputs: [found("one", { ref: "a" }), found("two", { ref: "b" })],
        signals: [
          { domain: "database", reason: "rows", findingId: "b" },
          { domain: "database", reason: "again", findingId: null },
          { domain: "security", reason: "myself", findingId: null },
        ],
      }),
    );
    expect(debate.wantedDomains).toEqual([{ domain: "database", trigger_finding_id: "X002", reason: "rows" }]);
    expect(hasEnded(debate)).toBe(false);
    debate.beginRound(2, debate.wantedDomains);
    expect(debate.activeDomains).toEqual(["security", "database"]);
    expect(debate.describeRound()).toMatchObject({
      newly_added_domains: [{ domain: "database" }],
      synthesis: expect.stringContaining("Added: database."),
    });
  });

  test("and does not come is named in the report", () => {
    const debate = createDebate(["security"], "X");
    debate.hearFirst(security, said({ outputs: [found("one")], signals: [{ domain: "database", reason: "rows", findingId: null }] }));
    expect(debate.conclude().outputs[1]).toMatchObject({
      type: "observation",
      severity: null,
      domain: "cross-domain",
      agent: "consolidation",
      title: "Not examined: database",
    });
  });
});

test("domains that weigh the same thing differently are in conflict, before and after", () => {
  const debate = createDebate(["security", "api"], "X");
  debate.hearFirst(security, said({ outputs: [found("tokens never expire")] }));
  debate.hearFirst(api, said({ outputs: [found("tokens never expire", { severity: "LOW" })] }));
  expect(debate.describeRound().conflicts).toEqual([{ finding_ids: ["X001", "X002"], about: "tokens never expire" }]);
  expect(debate.conclude().outputs[2]).toMatchObject({
    agent: "consolidation",
    title: "Domains weigh it differently: tokens never expire",
  });
});

describe("a debate ends", () => {
  const still = { discovered: 0, revised: 0, withdrawn: 0, challenged: 0 };
  test.each([
    ["when nothing moved", { changes: { ...still, challenged: 1 }, hasUnresolved: true, wantedDomains: [] }, true],
    ["when every challenge is settled", { changes: { ...still, revised: 1 }, hasUnresolved: false, wantedDomains: [] }, true],
    ["not while something moves and is open", { changes: { ...still, discovered: 1 }, hasUnresolved: true, wantedDomains: [] }, false],
    [
      "not while a domain waits",
      { changes: still, hasUnresolved: false, wantedDomains: [{ domain: "api", trigger_finding_id: null, reason: "" }] },
      false,
    ],
  ])("%s", (_when, state, ended) => {
    expect(hasEnded(state)).toBe(ended);
  });
});

test("whatever roles say, everybody's findings stay their own and every state is one of the five", () => {
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
      const authors = new Map(debate.standing().map(({ id, agent, domain }) => [id, `${agent} ${domain}`]));
      for (const [index, { who, outputs, challenges }] of turns.entries()) {
        const speaker = speakers[who] ?? security;
        const heard =
          who === 2 ? debate.hearChallenger(speaker, said({ outputs, challenges })).found : debate.hearExpert(speaker, said({ outputs }));
        for (const { id, agent, domain } of heard) {
          expect(`${agent} ${domain}`).toBe(`${speaker.agent} ${speaker.domain}`);
          authors.set(id, `${agent} ${domain}`);
        }
        debate.mergeDuplicates();
        if (index % 4 === 3) debate.beginRound(3 + index, []);
      }
      const { outputs, withdrawn, disputed } = debate.conclude();
      for (const { id, agent, domain } of [...outputs, ...withdrawn])
        if (agent !== "consolidation") expect(authors.get(id)).toBe(`${agent} ${domain}`);
      expect(new Set(outputs.map(({ id }) => id)).size).toBe(outputs.length);
      for (const { status } of outputs) expect(["confirmed", "revised", "disputed", "discovered"]).toContain(status);
      for (const { status } of withdrawn) expect(status).toBe("withdrawn");
      expect(disputed.map(({ output }) => output.id)).toEqual(outputs.filter(({ status }) => status === "disputed").map(({ id }) => id));
    }),
    { numRuns: 300 },
  );
});
