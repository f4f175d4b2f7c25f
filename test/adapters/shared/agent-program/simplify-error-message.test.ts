import { expect, test } from "vitest";
import { simplifyErrorMessage } from "../../../../adapters/shared/agent-program/simplify-error-message.ts";

test.each([
  ["The model is gone.", "The model is gone."],
  ['Internal error {"details":"401 scripted 401"}', "Internal error: 401 scripted 401"],
  ['"Method not found": session/resume {"method":"session/resume"}', '"Method not found": session/resume (method: session/resume)'],
  ['Internal error: API Error: 500 {"errorKind":"server_error"}', "Internal error: API Error: 500 (errorKind: server_error)"],
  [
    '[API Error: {"error":{"code":401,"message":"No such key.","status":"UNAUTHENTICATED"}}]',
    "[API Error: No such key. (code: 401, status: UNAUTHENTICATED)]",
  ],
  ['{"error":{"code":403,"status":"PERMISSION_DENIED"}}', "code: 403, status: PERMISSION_DENIED"],
  ['{"error":"no key"}', "no key"],
  ['Refused. {"message":"{\\"error\\":{\\"message\\":\\"twice wrapped\\"}}"}', "Refused. twice wrapped"],
  ['Failed {"cause":{"code":"E1","detail":"deep"},"tries":[1,2],"none":null}', "Failed (cause: deep, code: E1, tries: [1,2])"],
  ["Nothing {}", "Nothing"],
  ["half {of an object", "half {of an object"],
  ["a set {1, 2} of numbers", "a set {1, 2} of numbers"],
])("%s", (words, expected) => {
  expect(simplifyErrorMessage(words)).toBe(expected);
});
