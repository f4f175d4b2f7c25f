import { expect, test } from "vitest";
import { createResponseCheck } from "./response-check.ts";

const schema = { $ref: "#/components/schemas/Thing" };
const problem = { "application/problem+json": { schema: {} } };
const tagged = { headers: { ETag: { $ref: "#/components/headers/ETag" } } };
const check = createResponseCheck({
  paths: {
    "/things/{id}": {
      get: {
        responses: {
          200: { content: { "application/json": { schema } } },
          304: tagged,
          404: { content: problem },
          405: { $ref: "#/components/responses/MethodNotAllowed" },
          default: { content: problem },
        },
      },
      delete: { responses: {} },
    },
    "/things/latest": { get: { responses: { 200: { content: { "text/plain": { schema: { type: "string" } } } } } } },
    "/files/{path}": { get: { responses: { 200: { content: { "application/json": { schema } } } } } },
    "/stream": { get: { responses: { 200: { content: { "text/event-stream": { schema } } } } } },
  },
  components: {
    headers: { ETag: { required: true, schema: { type: "string" } }, Age: { schema: { type: "integer" } } },
    responses: {
      MethodNotAllowed: { headers: { Allow: { required: true, schema: { type: "string" } } }, content: problem },
    },
    schemas: {
      Thing: {
        type: "object",
        properties: { id: { type: "string" }, kind: { anyOf: [{ enum: ["a", "b"] }, { type: "string" }] } },
        required: ["id"],
      },
    },
  },
});
const answer = (status: number, body: unknown, type = "application/json; charset=utf-8", headers = {}, text = "") => ({
  status,
  body,
  text,
  headers: new Headers({ "content-type": type, ...headers }),
});

test.each([
  ["GET", "/things/1?x=y", answer(200, { id: "1", kind: "a" })],
  ["GET", "/things/1", answer(404, {}, "application/problem+json")],
  ["GET", "/things/1", answer(431, {}, "application/problem+json")],
  ["GET", "/things/1", answer(304, undefined, "", { etag: '"1"' })],
  ["PUT", "/things/1", answer(405, {}, "application/problem+json", { allow: "DELETE, GET, HEAD" })],
  ["GET", "/things/latest", answer(200, undefined, "text/plain")],
  ["GET", "/files/a/b.md", answer(200, { id: "1" })],
  ["GET", "/stream", answer(200, undefined, "text/event-stream", {}, 'event: x\ndata: {"id":"1"}\n\n')],
  ["GET", "/elsewhere", answer(500, {})],
])("%s %s matches the document: row %#", (method, target, given) => {
  expect(() => check(method, target, given)).not.toThrow();
});

test.each([
  ["GET", "/things/1", answer(200, { id: 1 })],
  ["GET", "/things/1", answer(200, {})],
  ["GET", "/things/1", answer(200, { id: "1", more: true })],
  ["GET", "/things/1", answer(200, { id: "1", kind: "c" })],
  ["GET", "/things/1", answer(200, { id: "1" }, "application/json", { "x-more": "1" })],
  ["GET", "/things/1", answer(503, {})],
  ["GET", "/things/1", answer(404, {}, "application/json")],
  ["GET", "/things/1", answer(304, undefined, "")],
  ["PUT", "/things/1", answer(405, {}, "application/problem+json")],
  ["PUT", "/things/1", answer(405, {}, "application/problem+json", { allow: "GET" })],
  ["PUT", "/things/1", answer(405, {}, "application/problem+json", { allow: "DELETE, GET, PUT" })],
  ["GET", "/things/latest", answer(200, { id: "1" })],
  ["GET", "/files/a/b.md", answer(200, {})],
  ["GET", "/stream", answer(200, undefined, "text/event-stream", {}, 'event: x\ndata: {"id":1}\n\n')],
])("%s %s violates the document and is reported: row %#", (method, target, given) => {
  expect(() => check(method, target, given)).toThrow();
});
