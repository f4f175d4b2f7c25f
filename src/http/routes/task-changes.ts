import type { onRequestAsyncHookHandler } from "fastify";
import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import type { TaskChanges } from "../../queries/task-changes.ts";
import { taskDiffRoutes } from "./task-diff.ts";
import { taskPatchRoutes } from "./task-patch.ts";

/** Options of the routes. */
interface TaskChangeRouteOptions {
  changes: TaskChanges;
  /** Passes requests to the node of their task. */
  forward: onRequestAsyncHookHandler;
}

/** The routes of what tasks have changed. */
export const taskChangeRoutes: FastifyPluginAsyncZodOpenApi<TaskChangeRouteOptions> = async (app, options) => {
  await app.register(taskDiffRoutes, options);
  await app.register(taskPatchRoutes, options);
};
