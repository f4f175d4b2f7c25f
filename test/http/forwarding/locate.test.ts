import type { FastifyRequest } from "fastify";
import { expect, test } from "vitest";
import { locateTaskFiles, locateWorkspace } from "../../../src/http/forwarding/locate.ts";
import type { ClusterNode, FilesMode } from "../../../src/store/nodes/interface.ts";
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

test.each([
  ["the agent in the path", { agentId: "writer" }, {}, "other"],
  ["the workspace in the query", {}, { workspace: "writer" }, "other"],
  ["no agent", {}, {}, null],
  ["a workspace that is given twice, which the route rejects", {}, { workspace: ["writer", "reader"] }, null],
])("the workspace of %s is located", async (_, params, query, expected) => {
  const view = { self: { id: "own", files: "local" as const }, nodes: () => [] };
  const cluster = {
    findPlace: async (tenant: string, agentId: string) => (`${tenant}/${agentId}` === "default/writer" ? "other" : null),
    placeAgent: () => Promise.reject(new Error("A request that reads places no agent.")),
  };
  const reads = { method: "GET", principal: { tenant: "default" }, params, query } as unknown as FastifyRequest;
  expect(await locateWorkspace(view, cluster)(reads)).toBe(expected);
});
