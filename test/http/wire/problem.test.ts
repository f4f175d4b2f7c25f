import { expect, test } from "vitest";
import { BridgeError, type ErrorCode, errorCodes } from "../../../src/errors.ts";
import { PROBLEM_TYPE, toProblem } from "../../../src/http/wire/problem.ts";
import { createBareServer } from "../bare-server.ts";

test.each(Object.keys(errorCodes) as ErrorCode[])("the error code %s becomes a problem", async (code) => {
  const app = await createBareServer();
  app.get("/refused", { config: { public: true } }, async () => {
    throw new BridgeError(code, "What is wrong.", { errors: [{ path: "a.0.b", message: "must be mended" }] });
  });
  app.get("/bare", { config: { public: true } }, async () => {
    throw new BridgeError(code, "What is wrong.", { retryAfterSeconds: 42 });
  });
  const { httpStatus, title } = errorCodes[code];
  const problem = { type: `urn:bridge:error:${code}`, title, status: httpStatus, detail: "What is wrong.", code, requestId: "my-id" };

  const refused = await app.inject({ url: "/refused", headers: { "x-request-id": "my-id" } });
  expect([refused.statusCode, refused.json()]).toEqual([
    httpStatus,
    {
      ...problem,
      // Many clients show only the detail.
      detail: code === "invalid_request" ? "What is wrong: a.0.b must be mended." : "What is wrong.",
      errors: [{ path: "a.0.b", message: "must be mended" }],
    },
  ]);
  expect(refused.headers["content-type"]).toContain(PROBLEM_TYPE);
  expect(refused.headers["retry-after"]).toBe(httpStatus === 503 ? "5" : undefined);

  const bare = await app.inject({ url: "/bare", headers: { "x-request-id": "my-id" } });
  expect([bare.json(), bare.headers["retry-after"]]).toEqual([problem, "42"]);
  await app.close();
});

test.each([
  ["The dispatch is not valid.", { path: "a.0.b", message: "must be mended" }, "The dispatch is not valid: a.0.b must be mended."],
  ["The body is not valid.", { path: "", message: "is not valid" }, "The body is not valid: it is not valid."],
  ["The path must be short.", { path: "path", message: "must be short" }, "The path must be short."],
  ["metadata.cwd must be short.", { path: "metadata.cwd", message: "must be short" }, "metadata.cwd must be short."],
])("the detail of an invalid request names its first field once: %s", async (message, fieldError, detail) => {
  const problem = toProblem(new BridgeError("invalid_request", message, { errors: [fieldError] }), "my-id");
  expect([problem.detail, problem.errors]).toEqual([detail, [fieldError]]);
});
