import type { FastifyDynamicSwaggerOptions } from "@fastify/swagger";
import { MAX_JSON_DEPTH } from "../../requests/canonical-json.ts";
import { MAX_JSON_VALUES } from "../../requests/check-json.ts";
import { PROBLEM_TYPE } from "../wire/problem.ts";
import { responseHeaders } from "../wire/response-headers.ts";
import { webhooks } from "./callback-webhook.ts";

const DESCRIPTION = `Dispatch a task with \`POST /api/v2/dispatch\`, follow its events, and read its result or receive it as a callback.

**Limits.** A request body can have at most ${MAX_JSON_VALUES} JSON values (the body itself, each member of an object, each element of an array; 413 \`too_large\`), nested at most ${MAX_JSON_DEPTH} levels deep (400 \`invalid_request\`). BRIDGE_BODY_LIMIT limits its size in bytes (413 \`too_large\`).

**Numbers.** A request with an integer that a double cannot hold exactly, a number beyond the range of a double, or a member that appears twice in its object is rejected (400 \`invalid_request\`). Send such a number as a string. Numbers of runtimes, such as those in \`outputs\` and in event data, keep all their digits and can exceed 2^53.

**Compatibility.** Later versions can add response fields, error codes and event types. Ignore unknown ones.`;

const problem = { [PROBLEM_TYPE]: { schema: { $ref: "#/components/schemas/Problem" } } };

/** Returns the parts of the OpenAPI document that do not belong to a route. */
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
      { url: "http://127.0.0.1:8787", description: "A local Bridge with default settings." },
    ],
    security: [{ token: [] }],
    tags: [
      { name: "tasks", description: "Dispatch, read and cancel tasks." },
      { name: "files", description: "Files that tasks left in their workspaces." },
      { name: "events", description: "Events of tasks, as lists and streams." },
      { name: "approvals", description: "Tool calls that wait for an approval." },
      { name: "callbacks", description: "Results that Bridge posts to callback URLs." },
      { name: "budgets", description: "What tasks may spend, which the operator configures, and what they have spent." },
      { name: "repositories", description: "Git repositories in which tasks can work. The operator configures them." },
      { name: "webhooks", description: "Events that Bridge posts to webhooks, which the operator configures." },
      { name: "attention", description: "What needs a person, and the acknowledgments of faults." },
      { name: "adapters", description: "The adapters of this Bridge with their health, capabilities and load." },
      { name: "councils", description: "The domains of knowledge for which councils have an expert." },
      { name: "nodes", description: "The Bridge processes that share a database." },
      { name: "workspaces", description: "The workspaces of agents and their files." },
      { name: "access", description: "The identity and permissions of your token." },
      { name: "gateway", description: "Management of runtimes: agents, skills and configuration." },
      { name: "websocket", description: "The bridge protocol over WebSockets." },
      { name: "operations", description: "Health, readiness and metrics." },
    ],
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "A token of this Bridge. By default it is stored in the file `data/token`." },
      },
      headers: responseHeaders,
      responses: {
        MethodNotAllowed: {
          description: "`method_not_allowed`: the path does not support this method. `Allow` lists the supported methods.",
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
