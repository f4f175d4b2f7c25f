import type { Step } from "./model-server/scenarios.ts";

const finding = (severity: string, title: string, more: object = {}) => ({
  type: "finding",
  severity,
  title,
  description: `All about it: ${title.toLowerCase()}.`,
  evidence: "login.ts:7",
  action: "Mend it.",
  ...more,
});
const json = (answer: object) => `Here it is.\n\n\`\`\`json\n${JSON.stringify(answer)}\n\`\`\``;
const nothing = { when: "", text: json({ outputs: [], confidence: "medium" }) };
/** One finding of both runtimes. Each has the id prefix of its runtime. */
const onBoth = (number: string, word: object) => ["C", "X"].map((letter) => ({ id: `${letter}${number}`, ...word }));

/** The answers of the roles of a council, selected by their introductions. Only a resumed session reaches the second step. */
export const councilRoles: Step[] = [
  {
    cases: [
      {
        when: "You are the Application Security Engineer of this council.",
        text: json({
          outputs: [finding("HIGH", "Tokens never expire"), finding("MEDIUM", "Passwords are in the logs")],
          cross_domain_signals: [{ domain: "database", reason: "Where are the tokens kept?" }],
          confidence: "high",
        }),
      },
      {
        when: "You are the Database Engineer of this council.",
        text: json({ outputs: [finding("MEDIUM", "Rows hold secrets in the clear")] }),
      },
      {
        when: "You are the Devil's Advocate",
        text: json({
          challenges: ["D001", "D002"].map((id) => ({ target_finding_id: id, challenge_text: "Both were asked in the same words." })),
        }),
      },
      {
        when: "You are the Debate Coordinator",
        text: json({
          outputs: [
            { id: "D001", status: "confirmed" },
            { id: "D002", status: "downgraded", severity: "LOW" },
          ],
        }),
      },
      nothing,
    ],
  },
  {
    cases: [
      {
        when: "You are the Challenger of this council.",
        text: json({
          challenges: [
            ...onBoth("001", {}).map(({ id }) => ({ target_finding_id: id, challenge_text: "They expire: session.ts:9." })),
            ...onBoth("002", {}).map(({ id }) => ({ target_finding_id: id, challenge_text: "It is worse than that." })),
          ],
        }),
      },
      { when: "You are the Integration Checker of this council.", text: json({ outputs: [finding("INFO", "Caches outlive sessions")] }) },
      {
        when: "You are the Application Security Engineer of this council.",
        text: json({
          outputs: [...onBoth("001", { status: "withdrawn" }), ...onBoth("002", { status: "revised", severity: "HIGH" })],
          confidence: "high",
        }),
      },
      nothing,
    ],
  },
];
