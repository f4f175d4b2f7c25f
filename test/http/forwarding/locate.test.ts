import type { FastifyRequest } from "fastify";
import { expect, test } from "vitest";
import { locateTaskFiles } from "../../../src/http/forwarding/locate.ts";
import type { ClusterNode, FilesMode } from "../../../src/store/cluster-store.ts";
import type { TaskProgress } from "../../../src/task.ts";

const request = { principal: { tenant: "default" }, params: { taskId: "task" } } as unknown as FastifyRequest;

test.each([
  ["another node with shared files", "shared", [{ id: "other", files: "shared" }], null],
  ["a forgotten node, of which only the shared files remain", "shared", [], null],
  ["another node with local files", "local", [{ id: "other", files: "local" }], "other"],
  ["a forgotten node with local files", "local", [], "other"],
] as const)("the files of a task of %s are located", async (_, files: FilesMode, nodes, expected) => {
  const view = { self: { id: "own", files }, nodes: () => nodes as unknown as ClusterNode[] };
  const store = { findTaskProgress: async () => ({ node: "other" }) as TaskProgress };
  expect(await locateTaskFiles(view, store)(request)).toBe(expected);
});
