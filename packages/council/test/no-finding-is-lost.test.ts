import type { CouncilReport, PanelReport, RoleRequest } from "bridge-council";
import fc from "fast-check";
import { expect, test } from "vitest";
import { prefixOf } from "../src/ids.ts";
import { judge, judgeCouncil } from "../src/reports/verdict.ts";
import { holdCouncil } from "./hold-council.ts";
import { type Line, say } from "./role-player.ts";

/** Dissimilar titles, so that only findings that were reported twice are merged. */
const titles = ["Tokens never expire", "Retries have no limit", "Logs hold passwords", "Backups are not encrypted"];
const severities = ["CRITICAL", "HIGH", "MEDIUM", "LOW"];
const domains = { security: "Application Security Engineer", api: "API Designer" };

const finding = fc.record({ title: fc.constantFrom(...titles), severity: fc.constantFrom(...severities) });
const findings = fc.array(finding, { maxLength: 3 });
const place = fc.integer({ min: 1, max: 6 });
const challenges = fc.array(fc.record({ place, status: fc.constantFrom("raised", "escalated", "withdrawn") }), { maxLength: 4 });
const decisions = fc.array(
  fc.record({
    place,
    status: fc.constantFrom("confirmed", "revised", "downgraded", "withdrawn", "disputed", ""),
    severity: fc.constantFrom(...severities),
  }),
  { maxLength: 4 },
);
/** A role that answers, or that fails in one of two ways. */
const answered = fc.constantFrom("yes", "yes", "yes", "prose", "error");
const turn = fc.record({ answered, findings, challenges, decisions });
type Turn = { answered: string; findings: Found[]; challenges: { place: number; status: string }[]; decisions: Decision[] };
type Found = { title: string; severity: string };
type Decision = { place: number; status: string; severity: string };
const turns = fc.array(turn, { minLength: 8, maxLength: 8 });

const bridge = fc.record({ models: fc.constantFrom<readonly string[]>([], ["glm/one", "kimi/two"]), turns });
// Two of them have the same prefix, so their ids collide.
const council = fc.record({
  bridges: fc.tuple(bridge, fc.option(bridge, { nil: null }), fc.option(bridge, { nil: null })),
  debate: turns,
  intensity: fc.constantFrom("quick", "standard", "thorough"),
});
const names = ["claude", "command", "codex"];

/** The answer of a role, with ids as the debate assigns them. */
function lineOf({ answered, findings, challenges, decisions }: Turn, idOf: (place: number) => string): Line {
  if (answered === "prose") return "I cannot answer this in JSON.";
  if (answered === "error") return { result: { status: "error", errorCode: "model_error", output: undefined } };
  return {
    outputs: [
      ...findings.map(({ title, severity }) => say(severity, title)),
      ...decisions.map(({ place, status, severity }) => ({ id: idOf(place), status, severity })),
    ],
    challenges: challenges.map(({ place, status }) => ({ target_finding_id: idOf(place), challenge_text: `Doubt ${place}.`, status })),
  };
}
const turnAt = (of: readonly Turn[], ...keys: (string | number)[]): Turn =>
  of[[...keys.join()].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % of.length] as Turn;
const idWith = (prefix: string) => (number: number) => `${prefix}${String(number).padStart(3, "0")}`;

function prefixIn({ provider, model }: RoleRequest): string {
  const initial = (provider[0] ?? "").toUpperCase();
  return model === undefined ? prefixOf(provider) : `${initial}-${model.replace("/", "-")}-`;
}

const lists = (report: CouncilReport) => [
  report.multi_source_confirmed,
  report.single_source_findings,
  report.disputed_findings,
  report.withdrawn_findings,
  report.integration_findings,
];

function checkBridge({ outputs, disputed_outputs, withdrawn_outputs, task_type, verdict }: PanelReport): void {
  const ids = [...outputs, ...withdrawn_outputs].map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(disputed_outputs.map(({ output }) => output)).toEqual(outputs.filter(({ status }) => status === "disputed"));
  expect(verdict).toBe(judge(task_type, outputs));
}

function checkCouncil(report: CouncilReport): void {
  const reported = report.bridge_reports.flatMap(({ bridge: name, outputs }) => outputs.map(({ id }) => `${name} ${id}`));
  const listed = lists(report).flatMap((list) =>
    list.flatMap(({ positions }) => positions.map((position) => `${position.bridge} ${position.id}`)),
  );
  expect(listed.toSorted()).toEqual(reported.toSorted());
  const ids = lists(report).flatMap((list) => list.map(({ id }) => id));
  expect(new Set(ids).size).toBe(ids.length);

  const isDeep = (sources: readonly string[]): boolean =>
    report.bridge_reports.some(
      (of) =>
        sources.includes(of.bridge) &&
        ((of.debate_rounds ?? 0) >= 1 || ("instances_completed" in of && (of.instances_completed as number) >= 2)),
    );
  const [multi, single, disputed, , integration] = lists(report);
  const standing = [...(multi ?? []), ...(single ?? []), ...(disputed ?? []), ...(integration ?? [])];
  const weighed = standing.map(({ severity, type, status, positions }) => {
    const sources = [...new Set(positions.map(({ bridge: name }) => name))];
    return {
      severity,
      type,
      status: status === "downgraded" ? ("revised" as const) : status,
      sources: sources.length,
      isDeep: isDeep(sources),
    };
  });
  expect(report.verdict).toBe(judgeCouncil(report.task_type, weighed));
  for (const { status } of disputed ?? []) expect(status).toBe("disputed");
  for (const { status } of [...(multi ?? []), ...(single ?? []), ...(integration ?? [])]) expect(status).not.toBe("disputed");
}

test("every output of every bridge is in exactly one list of the council's report, and the verdict follows from the remaining findings", async () => {
  const listsSeen = new Set<number>();
  await fc.assert(
    fc.asyncProperty(council, async ({ bridges, debate, intensity }) => {
      const members = bridges.flatMap((of, index) => (of === null ? [] : [[names[index] as string, of] as const]));
      const { report } = await holdCouncil({
        bridges: Object.fromEntries(members.map(([name, { models }]) => [name, models])),
        bridge: (request) => {
          const own = members.find(([name]) => name === request.provider)?.[1].turns ?? [];
          return lineOf(turnAt(own, request.role, request.round, request.model ?? ""), idWith(prefixIn(request)));
        },
        debate: new Proxy(
          {},
          {
            get: (_, key: string) => (request: RoleRequest) => {
              // Every second finding is one of the debate itself.
              const own = turnAt(debate, key, request.round);
              return lineOf(own, (number) => idWith(number % 3 === 0 ? "I" : "D")(number % 3 === 0 ? number / 3 : number));
            },
          },
        ),
        changes: { intensity, domains: Object.keys(domains) },
      });
      for (const of of report.bridge_reports) if (of.status === "COMPLETED") checkBridge(of);
      if (report.status === "COMPLETED") checkCouncil(report);
      for (const [index, list] of lists(report).entries()) if (list.length > 0) listsSeen.add(index);
    }),
    { numRuns: 100 },
  );
  // The generated councils fill every list of the report.
  expect(listsSeen.size).toBe(5);
});
