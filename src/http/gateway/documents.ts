import type { FastifyInstance } from "fastify";
import type { z } from "zod";
import type { ManagerCall } from "#contract";
import { BridgeError } from "../../errors.ts";
import { noQuery } from "../wire/empty.ts";
import { sendTagged, sendWritten } from "../wire/etag.ts";
import type { CallManager, Managers } from "./call-manager.ts";
import { putIfMatch, writeIfMatch } from "./precondition.ts";
import { contentBody, preconditionHeaders, readContent, readHeaders, readResponses, writeRefusals, written } from "./schemas.ts";

interface Document {
  name: string;
  content: string;
  etag: string;
}

/** Documents of one kind that a runtime keeps. */
export interface DocumentRoutes<Kind extends keyof Managers, Params> {
  /** Where one of them is. */
  url: string;
  kind: Kind;
  params: z.ZodType<Params>;
  schema: z.ZodType<Document>;
  /** What one of them is called, in short and in full. */
  what: string;
  whatInFull: string;
  /** Ends the ids of the operations. */
  idOf: string;
  /** What can be done with one of them. */
  of(
    manager: Managers[Kind],
    params: Params,
    call: ManagerCall,
  ): {
    read(): Promise<Document | null>;
    write(content: string, ifMatch?: string): Promise<Document>;
    delete(ifMatch?: string): Promise<boolean>;
  };
}

/** Reads, writes and deletes one document. */
export function registerDocumentRoutes<Kind extends keyof Managers, Params>(
  server: FastifyInstance,
  callManager: CallManager,
  { url, kind, params, schema, what, whatInFull, idOf, of }: DocumentRoutes<Kind, Params>,
): void {
  const route = { url, config: { scope: "manage" } } as const;
  // By then they have been checked against their schema.
  const open = (manager: Managers[Kind], request: { params: unknown }, signal: AbortSignal) =>
    of(manager, request.params as Params, { signal });
  const common = { tags: ["gateway"], params, querystring: noQuery };

  server.route<{ Params: { provider: string } }>({
    ...route,
    method: "GET",
    schema: {
      ...common,
      operationId: `get${idOf}`,
      summary: `Get a ${whatInFull}`,
      description: "With its content and its tag.",
      headers: readHeaders,
      response: readResponses(`The ${what}.`, schema),
    },
    handler: async (request, reply) => {
      const found = await callManager(request, kind, (manager, signal) => open(manager, request, signal).read());
      if (found === null) throw new BridgeError("not_found", `There is no such ${what}.`);
      return sendTagged(request, reply, found, found.etag);
    },
  });

  server.route<{ Params: { provider: string }; Body: z.infer<typeof contentBody> }>({
    ...route,
    method: "PUT",
    schema: {
      ...common,
      operationId: `put${idOf}`,
      summary: `Write a ${whatInFull}`,
      description: `Replaces the ${what} or creates it. With If-Match only if it has not changed since.`,
      headers: preconditionHeaders,
      body: contentBody,
      response: { 200: written("Replaced.", schema), 201: written("Created.", schema), ...writeRefusals() },
    },
    handler: async (request, reply) => {
      const content = readContent(request.body);
      const { isNew, result } = await callManager(request, kind, (manager, signal) => {
        const { read, write } = open(manager, request, signal);
        return putIfMatch(request, signal, { what, read, write: (ifMatch) => write(content, ifMatch) });
      });
      return sendWritten(reply, isNew ? 201 : 200, result, result.etag);
    },
  });

  server.route<{ Params: { provider: string } }>({
    ...route,
    method: "DELETE",
    schema: {
      ...common,
      operationId: `delete${idOf}`,
      summary: `Delete a ${whatInFull}`,
      description: "With If-Match only if it has not changed since.",
      headers: preconditionHeaders,
      response: { 204: { description: "Deleted." }, ...writeRefusals() },
    },
    handler: async (request, reply) => {
      await callManager(request, kind, (manager, signal) => {
        const { read, delete: write } = open(manager, request, signal);
        return writeIfMatch(request, signal, { what, read, write });
      });
      return reply.code(204).send();
    },
  });
}
