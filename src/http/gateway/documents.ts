import type { FastifyInstance } from "fastify";
import type { z } from "zod";
import type { ManagerCall } from "#contract";
import { BridgeError } from "../../errors.ts";
import { sendWithEtag, sendWriteResult } from "../wire/etag.ts";
import { noQuery } from "../wire/request-schemas.ts";
import type { CallManager, Managers } from "./call-manager.ts";
import { putIfMatch, writeIfMatch } from "./conditional-write.ts";
import {
  conditionalReadHeaders,
  contentBody,
  describeReadResponses,
  describeWriteErrors,
  describeWriteResponse,
  preconditionHeaders,
  readContent,
} from "./schemas.ts";

interface Document {
  name: string;
  content: string;
  etag: string;
}

/** The documents of one kind, such as the files of agents, and how a manager accesses one. */
export interface DocumentRouteOptions<Kind extends keyof Managers, Params> {
  callManager: CallManager;
  /** URL of one document. */
  url: string;
  kind: Kind;
  params: z.ZodType<Params>;
  schema: z.ZodType<Document>;
  /** Name of the kind in messages, such as "file". */
  noun: string;
  /** Name of the kind in summaries, such as "file of an agent". */
  fullNoun: string;
  /** Suffix of the operation ids. */
  operationSuffix: string;
  open(
    manager: Managers[Kind],
    params: Params,
    call: ManagerCall,
  ): {
    read(): Promise<Document | null>;
    write(content: string, ifMatch?: string): Promise<Document>;
    delete(ifMatch?: string): Promise<boolean>;
  };
}

/** `GET`, `PUT` and `DELETE` of one document. */
export async function documentRoutes<Kind extends keyof Managers, Params>(
  app: FastifyInstance,
  { callManager, url, kind, params, schema, noun, fullNoun, operationSuffix, open }: DocumentRouteOptions<Kind, Params>,
): Promise<void> {
  const route = { url, config: { scope: "manage" } } as const;
  // Fastify has validated the parameters, but cannot infer their type in a generic function.
  const openRequested = (manager: Managers[Kind], request: { params: unknown }, signal: AbortSignal) =>
    open(manager, request.params as Params, { signal });
  const sharedSchema = { tags: ["gateway"], params, querystring: noQuery };

  app.route<{ Params: { provider: string } }>({
    ...route,
    method: "GET",
    schema: {
      ...sharedSchema,
      operationId: `get${operationSuffix}`,
      summary: `Get a ${fullNoun}`,
      description: "The content and its tag.",
      headers: conditionalReadHeaders,
      response: describeReadResponses(`The ${noun}.`, schema),
    },
    handler: async (request, reply) => {
      const found = await callManager(request, kind, (manager, signal) => openRequested(manager, request, signal).read());
      if (found === null) throw new BridgeError("not_found", `There is no such ${noun}.`);
      return sendWithEtag(request, reply, found, found.etag);
    },
  });

  app.route<{ Params: { provider: string }; Body: z.infer<typeof contentBody> }>({
    ...route,
    method: "PUT",
    schema: {
      ...sharedSchema,
      operationId: `put${operationSuffix}`,
      summary: `Write a ${fullNoun}`,
      description: `Creates or replaces the ${noun}. With If-Match, only if it has not changed.`,
      headers: preconditionHeaders,
      body: contentBody,
      response: {
        200: describeWriteResponse("Replaced.", schema),
        201: describeWriteResponse("Created.", schema),
        ...describeWriteErrors(),
      },
    },
    handler: async (request, reply) => {
      const content = readContent(request.body);
      const { isNew, result } = await callManager(request, kind, (manager, signal) => {
        const { read, write } = openRequested(manager, request, signal);
        return putIfMatch(request, signal, { noun, read, write: (ifMatch) => write(content, ifMatch) });
      });
      return sendWriteResult(reply, isNew ? 201 : 200, result, result.etag);
    },
  });

  app.route<{ Params: { provider: string } }>({
    ...route,
    method: "DELETE",
    schema: {
      ...sharedSchema,
      operationId: `delete${operationSuffix}`,
      summary: `Delete a ${fullNoun}`,
      description: "With If-Match, only if it has not changed.",
      headers: preconditionHeaders,
      response: { 204: { description: "Deleted." }, ...describeWriteErrors() },
    },
    handler: async (request, reply) => {
      await callManager(request, kind, (manager, signal) => {
        const { read, delete: write } = openRequested(manager, request, signal);
        return writeIfMatch(request, signal, { noun, read, write });
      });
      return reply.code(204).send();
    },
  });
}
