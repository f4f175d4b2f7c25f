import type { CouncilInput } from "bridge-council";
import { expect, test } from "vitest";
import { findExpert } from "../../src/domains/find-expert.ts";
import { domains } from "../../src/domains/index.ts";
import {
  type CrossRound,
  composeAdvocatePrompt,
  composeCoordinatorPrompt,
  composeCrossIntegrationPrompt,
} from "../../src/prompts/cross-prompts.ts";
import { fitPacket } from "../../src/prompts/packet.ts";
import {
  challengerRole,
  composeChallengerPrompt,
  composeExpertPrompt,
  composeIntegrationPrompt,
  composeNewcomerPrompt,
  composeOpeningPrompt,
  composeRepairPrompt,
  integrationRole,
} from "../../src/prompts/prompts.ts";
import type { Challenge, Output } from "../../src/types.ts";

const input: CouncilInput = {
  sessionId: "login-review",
  scope: "login.ts and session.ts",
  taskDescription: "Review the login.",
  taskType: "review",
  domains: ["security", "api"],
  customDomains: [],
  registry: domains,
  contextSummary: "A web service with sessions.",
  intensity: "standard",
  providers: null,
};
const output = (id: string, domain: string, agent: string, title: string): Output => ({
  id,
  type: "finding",
  severity: "HIGH",
  status: "confirmed",
  title,
  description: `All about: ${title}.`,
  evidence: "login.ts:7",
  action: "Mend it.",
  domain,
  agent,
});
const tokens = output("C001", "security", "Application Security Engineer", "Tokens never expire");
const lists = output("C002", "api", "API Designer", "Lists have no limit");
const clocks = output("C003", "cross-domain", "Integration Checker", "Clocks differ");
const challenge = (id: string, targetId: string, domain: string): Challenge => ({
  id,
  targetId,
  text: `Show where, says ${id}.`,
  domain,
  state: "open",
  response: null,
  maintained: false,
  isInherited: false,
});
const challenges = [challenge("CH001", "C001", "security"), challenge("CH002", "C003", "cross-domain")];
const packet = fitPacket(
  {
    round: 2,
    active_domains: ["security", "api", "database"],
    newly_added_domains: [{ domain: "database", trigger_finding_id: "C002", reason: "It reads the whole table." }],
    open_challenges: challenges.map(({ id, targetId, text, domain }) => ({
      challenge_id: id,
      target_finding_id: targetId,
      challenge_text: text,
      directed_at_domain: domain,
    })),
    conflicts: [],
    gaps: [],
    synthesis: "Round 1: 3 findings stand.",
  },
  [tokens, lists, clocks],
);
const expert = findExpert("security", domains);
const [own, objections] = [[tokens], challenges.slice(0, 1)];
const requests = [{ from: "API Designer", finding_id: "C002", reason: "Anybody can list them." }];
const history = [
  { challenge_id: "CH001", target_finding_id: "C001", state: "defended", challenge_text: "Show where.", response: "session.ts:9" },
];
const cross: CrossRound = {
  round: 1,
  findings: [tokens, lists],
  merged: [tokens, lists].map((finding) => ({
    ...finding,
    sources: ["claude", "codex"],
    domains: [finding.domain],
    positions: [],
    escalated: true,
    unresolved_challenge: null,
  })),
  challenges: [challenge("CH001", "C001", "security")],
};

test.each([
  ["expert-opening", composeOpeningPrompt(expert, input)],
  ["expert-opening-of-an-audit", composeOpeningPrompt(expert, { ...input, taskType: "audit" })],
  ["expert-opening-of-an-implementation", composeOpeningPrompt(expert, { ...input, taskType: "implementation" })],
  ["expert-debate", composeExpertPrompt(expert, input, { packet, own, challenges: objections, requests, hasSession: false })],
  [
    "expert-debate-in-its-session",
    composeExpertPrompt(expert, input, { packet, own, challenges: objections, requests: [], hasSession: true }),
  ],
  [
    "newcomer",
    composeNewcomerPrompt(findExpert("database", domains), input, {
      added: { domain: "database", trigger_finding_id: "C002", reason: "It reads the whole table." },
      trigger: lists,
      requests,
      packet,
    }),
  ],
  ["challenger-opening", composeOpeningPrompt(challengerRole, input)],
  ["challenger-debate", composeChallengerPrompt(input, { packet, history, hasSession: false })],
  ["integration-checker-opening", composeOpeningPrompt(integrationRole, input)],
  [
    "integration-checker-debate",
    composeIntegrationPrompt(input, { packet, own: [clocks], challenges: challenges.slice(1), hasSession: false }),
  ],
  ["repair", composeRepairPrompt({ question: composeOpeningPrompt(challengerRole, input), answer: "I think it is fine." })],
  ["repair-in-its-session", composeRepairPrompt(null)],
  ["devils-advocate", composeAdvocatePrompt(input, cross)],
  ["council-integration-checker", composeCrossIntegrationPrompt(input, cross)],
  ["coordinator", composeCoordinatorPrompt(input, cross)],
])("the prompt %s equals its golden file", async (name, prompt) => {
  await expect(`${prompt}\n`).toMatchFileSnapshot(`../golden/${name}.txt`);
});

test.each([
  ["review", "Which faults does it have, and what would make it better?", "finding | recommendation"],
  ["analysis", "What follows from it?", "finding | observation"],
  ["planning", "Which steps does it take, and which one comes first?", "plan-item"],
  ["implementation", "What must be known and done so that it is built right?", "implementation-note"],
  ["research", "What is known about it, and between what can one choose?", "observation | recommendation"],
  ["audit", "Which requirements does it fulfill, and which does it violate?", "finding | compliance-gap"],
] as const)("the prompts of %s ask their question, and for their types of output", (taskType, question, types) => {
  for (const role of [expert, challengerRole, integrationRole]) {
    const prompt = composeOpeningPrompt(role, { ...input, taskType });
    expect(prompt).toContain(`Question: ${question}\n`);
    expect(prompt).toContain(`"type": "${types}"`);
  }
});
