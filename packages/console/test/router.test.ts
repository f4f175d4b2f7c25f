import { expect, test } from "vitest";
import { parseRoute } from "../src/router.ts";

test.each([
  ["", "overview", ""],
  ["?x=1", "overview", ""],
  ["tasks?state=failed", "tasks", ""],
  ["tasks/", "tasks", ""],
  ["tasks/report-7?event=3", "task", "report-7"],
  ["tasks/a%2Fb%20c", "task", "a/b c"],
  ["tasks/%E0%A4%A", "task", "%E0%A4%A"],
  ["approvals", "approvals", ""],
  ["overview", "missing", ""],
  ["task", "missing", ""],
  ["tasks/a/b", "missing", ""],
  ["unknown", "missing", ""],
])("the path %j names a page", (relative, page, id) => {
  const route = parseRoute(relative);
  expect([route.page, page === "missing" ? "" : route.id]).toEqual([page, id]);
});
