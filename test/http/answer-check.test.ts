import { expect, test } from "vitest";
import { createAnswerCheck } from "./answer-check.ts";

const schema = { $ref: "#/components/schemas/Thing" };
const check = createAnswerCheck({
  paths: {
    "/things/{id}": {
      get: {
        responses: {
          200: { content: { "application/json": { schema } } },
          404: { content: { "application/problem+json": { schema: {} } } },
        },
      },
    },
    "/things/latest": { get: { responses: { 200: { content: { "text/plain": { schema: { type: "string" } } } } } } },
  },
  components: {
    schemas: { Thing: { type: "object", properties: { id: { type: "string" } }, required: ["id"], additionalProperties: false } },
  },
});
const answer = (status: number, body: unknown, type = "application/json; charset=utf-8") => ({
  status,
  body,
  headers: new Headers({ "content-type": type }),
});

test.each([
  ["/things/1?x=y", answer(200, { id: "1" })],
  ["/things/1", answer(404, {}, "application/problem+json")],
  ["/things/1", answer(431, {}, "application/problem+json")],
  ["/things/latest", answer(200, undefined, "text/plain")],
  ["/elsewhere", answer(500, {})],
])("%s passes: %#", (target, given) => {
  expect(() => check("GET", target, given)).not.toThrow();
});

test.each([
  ["/things/1", answer(200, { id: 1 })],
  ["/things/1", answer(200, {})],
  ["/things/1", answer(200, { id: "1", more: true })],
  ["/things/1", answer(500, {})],
  ["/things/1", answer(404, {}, "application/json")],
  ["/things/latest", answer(200, { id: "1" })],
])("%s is caught: %#", (target, given) => {
  expect(() => check("GET", target, given)).toThrow();
});
