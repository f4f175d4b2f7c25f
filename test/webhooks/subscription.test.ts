import { expect, test } from "vitest";
import { matchesFilter, type WebhookFilter } from "../../src/webhooks/subscription.ts";

const task = { agentId: "auditor", provider: "claude", labels: { team: "docs", stage: "test" } };
const adapter = { provider: "claude" };

test.each<[WebhookFilter, boolean, boolean]>([
  [{}, true, true],
  [{ provider: "claude" }, true, true],
  [{ provider: "codex" }, false, false],
  [{ agentId: "auditor" }, true, false],
  [{ agentId: "writer" }, false, false],
  [{ labels: { team: "docs" } }, true, false],
  [{ labels: { team: "docs", stage: "test" } }, true, false],
  [{ labels: { team: "docs", stage: "live" } }, false, false],
  [{ labels: { toString: "x" } }, false, false],
  [{ labels: {} }, true, true],
  [{ provider: "claude", agentId: "auditor", labels: { team: "docs" } }, true, false],
  [{ provider: "codex", agentId: "auditor", labels: { team: "docs" } }, false, false],
])("the filter %o matches the event of a task: %s, and of an adapter: %s", (filter, ofTask, ofAdapter) => {
  expect([matchesFilter(filter, task), matchesFilter(filter, adapter)]).toEqual([ofTask, ofAdapter]);
});
