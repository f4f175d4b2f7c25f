import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const directory = new URL("../../src/store/", import.meta.url);
const files = globSync("**/*.ts", { cwd: directory })
  .filter((name) => name.includes("postgres"))
  .map((name) => [name, readFileSync(new URL(name, directory), "utf8")] as const);

/** The planner may run such a subquery once per row, so that more rows are locked than its LIMIT allows. */
const lockingSubquery = /IN\s*\(\s*SELECT[^;`]*?\bFOR\s+(NO\s+KEY\s+)?(UPDATE|SHARE)/i;

test("no statement selects rows by a subquery that locks them, except through a materialized common table expression", () => {
  expect(files.filter(([, source]) => source.includes("SKIP LOCKED")).length).toBeGreaterThan(2);
  for (const [name, source] of files) {
    expect([name, lockingSubquery.exec(source)?.[0]]).toEqual([name, undefined]);
    for (const { index } of source.matchAll(/SKIP LOCKED/g)) {
      const [query] = [...source.slice(0, index).matchAll(/\b\w+ AS( MATERIALIZED)? \(|text: `SELECT/g)].at(-1) ?? ["none"];
      expect([name, query]).toEqual([name, expect.stringMatching(/MATERIALIZED|text: `SELECT/)]);
    }
  }
  expect(lockingSubquery.test("WHERE seq IN (SELECT seq FROM task LIMIT 1 FOR UPDATE SKIP LOCKED)")).toBe(true);
});

test("no statement moves the place of an agent, because a condition on its tasks would see an old snapshot", () => {
  const placing = files.flatMap(([, source]) => [...source.matchAll(/INSERT INTO place\b[^`]*/g)].map(([text]) => text));
  expect(placing.length).toBe(3);
  for (const text of placing) expect(text).toMatch(/ON CONFLICT DO NOTHING/);
});

test("statements have unique names", () => {
  const names = files.flatMap(([, source]) => [...source.matchAll(/\bname: "(\w+)",\s*text:/g)].map(([, statement]) => statement));
  expect(names.length).toBeGreaterThan(20);
  expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
});
