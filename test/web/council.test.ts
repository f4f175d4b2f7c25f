import type { ListedTask, Task } from "bridge-client";
import { expect, test } from "vitest";
import { readCouncil } from "../../web/src/council.ts";

const child = (taskId: string, role: string, domain: string, round: number): ListedTask =>
  ({ taskId, provider: "claude", state: "completed", metadata: { council: { role, domain, round } } }) as unknown as ListedTask;
const council = (outputs: object | null): Task => ({ result: outputs === null ? null : { outputs } }) as unknown as Task;

test("a task without the report and the child tasks of a council is none", () => {
  expect(readCouncil(council(null), [])).toBeNull();
  expect(readCouncil(council({ verdict: "PASS" }), [{ metadata: null } as ListedTask])).toBeNull();
});

test("a council that runs shows which role is asked in which round", () => {
  const found = readCouncil(council(null), [
    child("a", "expert", "security", 1),
    child("b", "expert", "api", 1),
    child("c", "expert", "security", 2),
  ]);
  expect(found?.rounds).toEqual([1, 2]);
  expect(found?.roles.map(({ name, tasks }) => [name, [...tasks].map(([round, { taskId }]) => `${round}${taskId}`)])).toEqual([
    ["expert (claude · security)", ["1a", "2c"]],
    ["expert (claude · api)", ["1b"]],
  ]);
});

test("each finding of a report shows who raised it, and who confirmed or challenged it", () => {
  const report = {
    ...{ verdict: "FAIL", roles: [], partial_coverage: true, skip_reasons: [{ bridge: "gemini", reason: "offline" }] },
    multi_source_confirmed: [
      {
        id: "1",
        severity: "HIGH",
        status: "confirmed",
        title: "A",
        confirmed_by: ["claude", "codex"],
        positions: [{ bridge: "claude", id: "S-1" }],
      },
    ],
    disputed_outputs: [{ output: { id: "2", title: "B", status: "confirmed", agent: "expert" }, unresolved_challenge: "Not reachable." }],
    withdrawn_findings: [{ id: "3", title: "C", status: "confirmed" }],
  };
  const found = readCouncil(council(report), []);
  expect(found).toMatchObject({ verdict: "FAIL", isPartial: true, skipped: [{ bridge: "gemini", reason: "offline" }] });
  expect(found?.findings.map(({ title, status, raisedBy, note }) => [title, status, raisedBy, note])).toEqual([
    ["A", "confirmed", "claude S-1", "confirmed by claude, codex"],
    ["B", "disputed", "expert", "challenged: Not reachable."],
    ["C", "withdrawn", "the council", ""],
  ]);
});

test("a report with unexpected values is shown as far as possible", () => {
  const found = readCouncil(council({ verdict: 7, roles: null, outputs: [null, "x", { title: {} }], skip_reasons: "no" }), []);
  expect([found?.verdict, found?.findings.length, found?.skipped]).toEqual([null, 3, []]);
});
