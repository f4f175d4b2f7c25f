import { expect, test } from "vitest";
import { builtInViews, createSavedViews, normalizeQuery, toTaskQuery } from "../src/task-views.ts";

const openStorage = (text: string | null = null) => {
  const texts = new Map<string, string>(text === null ? [] : [["bridge.views.acme", text]]);
  return { getItem: (key: string) => texts.get(key) ?? null, setItem: (key: string, value: string) => void texts.set(key, value) };
};

test("a view is saved, replaced and removed by its name, and other tenants do not have it", () => {
  const storage = openStorage();
  const views = createSavedViews(storage, "acme");
  views.save({ name: "Mine", query: "state=failed" });
  views.save({ name: "Yours", query: "agentId=a" });
  views.save({ name: "Mine", query: "state=running" });
  expect(createSavedViews(storage, "acme").list()).toEqual([
    { name: "Yours", query: "agentId=a" },
    { name: "Mine", query: "state=running" },
  ]);
  expect(createSavedViews(storage, "other").list()).toEqual([]);
  views.remove("Yours");
  expect(views.list().map(({ name }) => name)).toEqual(["Mine"]);
});

test.each([null, "{", "7", '[7, null, {"name": 1}, {"name": "x"}]'])("a damaged list of views is empty: %s", (text) => {
  expect(createSavedViews(openStorage(text), "acme").list()).toEqual([]);
});

test("at most 20 views are kept, the newest ones", () => {
  const views = createSavedViews(openStorage(), "acme");
  for (let number = 0; number < 25; number += 1) views.save({ name: `v${number}`, query: "" });
  expect([views.list().length, views.list()[0]?.name]).toEqual([20, "v5"]);
});

test("the built-in views have normalized queries, so that their tab can be the current one", () => {
  for (const { query } of builtInViews) expect(normalizeQuery(new URLSearchParams(query))).toBe(query);
  expect(normalizeQuery(new URLSearchParams("state=failed&q=&agentId=a"))).toBe("agentId=a&state=failed");
});

test("a time in words becomes the time of its start, unless the query has another one", () => {
  const now = new Date(2026, 10, 29, 15, 30).getTime();
  const start = (query: string) => toTaskQuery(new URLSearchParams(query), now);
  const root = "*";
  expect(start("finished=today&state=failed")).toEqual({ root, state: "failed", finishedAfter: new Date(2026, 10, 29).toISOString() });
  expect(start("created=hour")).toEqual({ root, createdAfter: new Date(2026, 10, 29, 14, 30).toISOString() });
  expect(start("created=never&unknown=1")).toEqual({ root });
  expect(start("created=hour&createdAfter=2026-01-01T00:00:00Z")).toEqual({ root, createdAfter: "2026-01-01T00:00:00Z" });
});

test("child tasks are in the row of their parent, unless the query requests them or can select single ones", () => {
  const rootOf = (query: string) => toTaskQuery(new URLSearchParams(query), 0)["root"];
  for (const query of ["", "state=failed", "provider=claude", "label=a%3Db", "search="]) expect(rootOf(query)).toBe("*");
  for (const query of ["children=all", "search=x", "q=x", "idPrefix=x", "agentId=a", "parentTaskId=p", "waitingOn=approval"])
    expect(rootOf(query)).toBeUndefined();
  expect(rootOf("root=r")).toBe("r");
});
