import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { ExecutionRequest } from "#contract";
import { createPolicy } from "../../../adapters/gemini/policy.ts";
import { prepareStart } from "../../../adapters/gemini/start.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { contextOf, requestIn, server } from "./gemini-task.ts";

async function requestWithHome(changes: Partial<ExecutionRequest> = {}): Promise<ExecutionRequest> {
  const request = requestIn(await temporaryDirectory(), changes);
  mkdirSync(request.directories.home);
  return request;
}

describe("a start", () => {
  test("a start writes a private configuration and keeps the sessions in the agent's home", async () => {
    const request = await requestWithHome({ mcpServers: [server] });
    const { env, policyFile } = await prepareStart({ request, context: contextOf() });
    const home = env["GEMINI_CLI_HOME"] ?? "";
    expect(home.startsWith(request.directories.tmp)).toBe(true);
    for (const file of [policyFile, path.join(home, ".gemini", "settings.json")]) expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(policyFile, "utf8")).toBe(createPolicy(request));
    for (const kept of ["tmp", "history"])
      expect(readlinkSync(path.join(home, ".gemini", kept))).toBe(path.join(request.directories.home, ".gemini", kept));
  });

  test("a start passes the documented variables and disables workspace trust and the relaunch", async () => {
    const request = await requestWithHome();
    const { env } = await prepareStart({ request, context: contextOf({}, { GEMINI_API_KEY: "k", OPENAI_API_KEY: "no", HOME: "/root" }) });
    expect(env).toMatchObject({ GEMINI_API_KEY: "k", GEMINI_CLI_TRUST_WORKSPACE: "false", GEMINI_CLI_NO_RELAUNCH: "true" });
    expect(env).not.toHaveProperty("OPENAI_API_KEY");
    // Gemini exits before its output is read, so writes to stdout block. Its child processes do not inherit this.
    const code = decodeURIComponent(env["NODE_OPTIONS"] ?? "");
    expect(code).toMatch(/setBlocking\?\.\(true\);\s+delete process\.env\.NODE_OPTIONS;/);
    expect(env).not.toHaveProperty("HOME");
  });

  test.each(["link", "nested link", "file"])("a start does not write through a %s that an earlier task left in the home", async (kind) => {
    const [request, outside] = [await requestWithHome(), await temporaryDirectory()];
    const own = path.join(request.directories.home, ".gemini");
    if (kind === "nested link") mkdirSync(own);
    if (kind === "file") writeFileSync(own, "");
    else symlinkSync(outside, kind === "link" ? own : path.join(own, "tmp"));
    await prepareStart({ request, context: contextOf() });
    expect(readdirSync(outside)).toEqual([]);
    for (const kept of ["", "tmp", "history"]) expect(lstatSync(path.join(own, kept)).isDirectory()).toBe(true);
  });

  test("a start does not write through links that exist in its TMPDIR", async () => {
    const [request, outside] = [await requestWithHome(), await temporaryDirectory()];
    const own = path.join(request.directories.tmp, "gemini");
    mkdirSync(path.join(own, ".gemini"), { recursive: true });
    for (const name of ["policy.toml", ".gemini/settings.json", ".gemini/tmp"]) {
      writeFileSync(path.join(outside, path.basename(name)), "kept");
      symlinkSync(path.join(outside, path.basename(name)), path.join(own, name));
    }
    await prepareStart({ request, context: contextOf() });
    for (const name of readdirSync(outside)) expect(readFileSync(path.join(outside, name), "utf8")).toBe("kept");
    expect(readFileSync(path.join(own, "policy.toml"), "utf8")).toBe(createPolicy(request));
  });

  test("a start uses the operator's configuration under the task's policy with home: user", async () => {
    const request = requestIn(await temporaryDirectory());
    const { env, policyFile } = await prepareStart({ request, context: contextOf({ home: "user" }) });
    expect(env).not.toHaveProperty("GEMINI_CLI_HOME");
    expect(existsSync(path.join(request.directories.home, ".gemini"))).toBe(false);
    expect(readFileSync(policyFile, "utf8")).toBe(createPolicy(request));
  });
});
