import type { ListedTask, Task } from "bridge-client";
import { expect, test } from "vitest";
import { readCouncil } from "../src/council.ts";

const child = (taskId: string, role: string, domain: string, round: number): ListedTask =>
  ({ taskId, provider: "claude", state: "completed", metadata: { council: { role, domain, round } } }) as unknown as ListedTask;
const record = (role: string, domain: string, round: number, reason: string | null = null) => ({
  ...{ role, domain, round, answered: reason === null, reason, summary: null },
});
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
  expect(found?.roles.map(({ name, turns }) => [name, [...turns].map(([round, { task }]) => `${round}${task?.taskId}`)])).toEqual([
    ["expert (claude · security)", ["1a", "2c"]],
    ["expert (claude · api)", ["1b"]],
  ]);
});

test("a report shows which role answered, although every child task has completed", () => {
  const report = {
    ...{ bridge: "claude", status: "SKIPPED", verdict: null },
    roles: [
      record("expert", "security", 1, "unreadable answer, twice"),
      record("expert", "api", 1),
      record("expert", "api", 1, "timeout_after_60s"),
      record("Challenger", "cross-domain", 2, "timeout: no time left"),
    ],
  };
  const found = readCouncil(council(report), [child("a", "expert", "security", 1), child("b", "expert", "api", 1)]);
  expect(found).toMatchObject({ status: "SKIPPED", rounds: [1, 2] });
  expect(
    found?.roles.map(({ name, turns }) => [
      name,
      ...[...turns].map(([round, { task, answers }]) => [
        ...[round, task?.taskId],
        answers.map(({ answered, reason }) => (answered ? "answered" : reason)),
      ]),
    ]),
  ).toEqual([
    ["expert (claude · security)", [1, "a", ["unreadable answer, twice"]]],
    ["expert (claude · api)", [1, "b", ["answered", "timeout_after_60s"]]],
    ["Challenger (claude · cross-domain)", [2, undefined, ["timeout: no time left"]]],
  ]);
});

test("the report of a deep council shows the roles of each runtime, and those of their debate", () => {
  const checker = ["Integration Checker", "cross-domain", 1] as const;
  const report = {
    ...{ status: "COMPLETED", verdict: "PASS", roles: [record(...checker)] },
    bridge_reports: [{ bridge: "claude", roles: [record(...checker, "timeout_after_60s")] }],
  };
  const found = readCouncil(council(report), [child("first", ...checker), child("last", ...checker)]);
  expect(found?.roles.map(({ name, turns }) => [name, turns.get(1)?.task?.taskId, turns.get(1)?.answers[0]?.answered])).toEqual([
    ["Integration Checker (claude · cross-domain)", "first", false],
    ["Integration Checker (all runtimes · cross-domain)", "last", true],
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
