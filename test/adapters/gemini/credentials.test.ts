import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { findCredentials } from "../../../adapters/gemini/credentials.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { contextOf } from "./gemini-task.ts";

test.each<[ok: boolean, detail: RegExp, env: Record<string, string>, home?: string]>([
  [true, /^GEMINI_API_KEY is set$/, { GEMINI_API_KEY: "k" }],
  [false, /^Set GEMINI_API_KEY; or GOOGLE_GENAI_USE_VERTEXAI/, {}],
  [false, /^Set GEMINI_API_KEY/, { GEMINI_API_KEY: "" }],
  [true, /GOOGLE_API_KEY/, { GOOGLE_GENAI_USE_VERTEXAI: "true", GOOGLE_API_KEY: "k" }],
  [true, /application default/, { GOOGLE_GENAI_USE_VERTEXAI: "true", GOOGLE_CLOUD_PROJECT: "p", GOOGLE_CLOUD_LOCATION: "l" }],
  [false, /needs GOOGLE_API_KEY, or else GOOGLE_CLOUD_LOCATION/, { GOOGLE_GENAI_USE_VERTEXAI: "true", GOOGLE_CLOUD_PROJECT: "p" }],
  [false, /BRIDGE_GEMINI_HOME=user/, { GOOGLE_GENAI_USE_GCA: "true" }],
  [false, /BRIDGE_GEMINI_HOME=user to use the login/, { HOME: "login" }],
  [true, /signed in/, { HOME: "login" }, "user"],
])("credentials are found: %s, with %s for %j", async (ok, detail, env, home = "agent") => {
  const operator = await temporaryDirectory();
  mkdirSync(path.join(operator, "login", ".gemini"), { recursive: true });
  writeFileSync(path.join(operator, "login", ".gemini", "oauth_creds.json"), '{"refresh_token":"r"}');
  const found = findCredentials(contextOf({ home }, { ...env, HOME: path.join(operator, env["HOME"] ?? "none") }));
  expect(found).toEqual({ ok, detail: expect.stringMatching(detail) });
});
