import type { FastifyDynamicSwaggerOptions } from "@fastify/swagger";
import { MAX_JSON_DEPTH } from "../../requests/canonical-json.ts";
import { MAX_JSON_VALUES } from "../wire/parse-json.ts";
import { PROBLEM_TYPE } from "../wire/problem.ts";
import { responseHeaders } from "../wire/response-headers.ts";
import { webhooks } from "./callback-webhook.ts";

const DESCRIPTION = `One durable HTTP endpoint in front of every AI-agent runtime.

Dispatch a task with \`POST /api/v2/dispatch\`, follow its events, and read its result or receive it as a callback.

**Limits.** A request body holds at most ${MAX_JSON_VALUES} JSON values (the body itself, each member of an object, each element of an array; 413 \`too_large\`) in at most ${MAX_JSON_DEPTH} levels (400 \`invalid_request\`). Its size in bytes is limited by BRIDGE_BODY_LIMIT (413 \`too_large\`).

**Compatibility.** Later versions add fields to answers, error codes and types of events. Ignore what you do not know.`;

const problem = { [PROBLEM_TYPE]: { schema: { $ref: "#/components/schemas/Problem" } } };

/** What the description of the API holds besides the routes. */
export const describeApi = (version: string) =>
  ({
    openapi: "3.1.0",
    info: {
      title: "Bridge",
      version,
      summary: "One HTTP endpoint in front of every AI-agent runtime.",
      description: DESCRIPTION,
      contact: { name: "The maintainers of Bridge" },
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [
      { url: "/", description: "The Bridge that serves this document." },
      { url: "http://127.0.0.1:8787", description: "A Bridge on this machine with its default settings." },
    ],
    security: [{ token: [] }],
    tags: [
      { name: "tasks", description: "Dispatch, read and cancel tasks." },
      { name: "files", description: "The files of workspaces and those that tasks left." },
      { name: "events", description: "Events of tasks, as lists and as streams." },
      { name: "approvals", description: "Tool calls that wait for an answer." },
      { name: "callbacks", description: "Results that Bridge posts to receivers." },
      { name: "adapters", description: "The adapters of this Bridge: their health, capabilities and load." },
      { name: "workspaces", description: "The workspaces of agents." },
      { name: "gateway", description: "Management of runtimes: their agents, skills and configuration." },
      { name: "websocket", description: "The bridge protocol over one socket." },
      { name: "operations", description: "Health, readiness and metrics." },
    ],
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "A token of this Bridge. By default it is in the file `data/token`." },
      },
      headers: responseHeaders,
      responses: {
        MethodNotAllowed: {
          description: "`method_not_allowed`: this path has no such method; `Allow` lists those that it has.",
          headers: { Allow: {}, "X-Request-Id": {} },
          content: problem,
        },
        OtherProblem: {
          description: "Any other rejection, such as `internal_error` (500), `headers_too_large` (431) or a code of a later version.",
          headers: { "X-Request-Id": {} },
          content: problem,
        },
      },
    },
    webhooks,
  }) satisfies FastifyDynamicSwaggerOptions["openapi"];
