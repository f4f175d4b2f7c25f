import { expect, test } from "vitest";
import { findCredentials } from "../../../adapters/codex/credentials.ts";
import type { ProgramContext } from "../../../adapters/shared/agent-program/agent-program.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const advice = "set OPENAI_API_KEY or CODEX_API_KEY, or BRIDGE_CODEX_HOME=user to use your own login";

/** The credentials that the adapter finds. `status` is a shell script that replaces `codex login status`. */
async function findIn(env: Record<string, string>, home: "agent" | "user", status = "exit 1") {
  const dataDir = await temporaryDirectory();
  const context = { env: { HOME: dataDir, ...env }, dataDir, settings: { home, env: [] }, sandbox: null, onOrphansKilled: () => {} };
  return findCredentials("cli", ["/bin/sh", "-c", status], context as unknown as ProgramContext);
}

test("a key or a base URL in the environment is sufficient", async () => {
  expect(await findIn({ OPENAI_API_KEY: "key" }, "agent")).toEqual({ ok: true, detail: "OPENAI_API_KEY" });
  const local = await findIn({ OPENAI_BASE_URL: "http://127.0.0.1:9/v1" }, "agent");
  expect(local).toEqual({ ok: true, detail: "no API key; the endpoint of OPENAI_BASE_URL may not need one" });
});

test("missing credentials are reported with what to set", async () => {
  expect(await findIn({}, "agent")).toEqual({ ok: false, detail: `no credentials: ${advice}` });
});

const login = "run codex login, or set OPENAI_API_KEY or CODEX_API_KEY";

test("with the operator's home, the output of codex login status is reported", async () => {
  expect(await findIn({}, "user", "echo Logged in using an API key")).toEqual({ ok: true, detail: "Logged in using an API key" });
  const missing = await findIn({}, "user", "echo Not logged in >&2; exit 1");
  expect(missing).toEqual({ ok: false, detail: `Not logged in: ${login}` });
  const silent = await findIn({}, "user");
  expect(silent).toEqual({ ok: false, detail: `codex login status exited with 1: ${login}` });
});
