import { existsSync } from "node:fs";
import { link, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { text as readAll } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCommandAdapter } from "../../../adapters/command/index.ts";
import { type Bridge, expectProblem, startBridge } from "../../support/start-bridge.ts";
import { askUntil } from "../../support/until.ts";

// The agent runs its message as a shell script, in its workspace.
const agent = `const { message } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
  require("node:child_process").execFileSync("/bin/sh", ["-c", message], { stdio: "inherit" });`;
let bridge: Bridge;
let root: string;
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), "bridge-test-"));
  bridge = await startBridge(
    {
      BRIDGE_WORKSPACES_DIR: path.join(root, "workspaces"),
      BRIDGE_COMMAND: JSON.stringify([process.execPath, "-e", agent]),
      BRIDGE_BODY_LIMIT: "100 KiB",
    },
    { adapters: [{ provider: "command", adapter: createCommandAdapter() }] },
  );
});
afterAll(async () => {
  await bridge.close();
  await rm(root, { recursive: true });
});

const workspaceOf = (agentId: string) => path.join(root, "workspaces/alpha", agentId);
const fileOf = (agentId: string, name: string) => path.join(workspaceOf(agentId), name);
const urlOf = (agentId: string, name: string) => `/api/v2/workspaces/${agentId}/files/${name}`;
const put = (agentId: string, name: string, body: string, headers: Record<string, string> = {}) =>
  bridge.call("PUT", urlOf(agentId, name), { body, headers: { "content-type": "application/octet-stream", ...headers } });
const remove = (agentId: string, name: string, headers: Record<string, string> = {}) =>
  bridge.call("DELETE", urlOf(agentId, name), { headers });

/** Sends a request without the normalization of `fetch`. */
async function sendRaw(method: string, target: string, body: string, headers: Record<string, string> = {}) {
  const request = http.request({
    host: "127.0.0.1",
    port: bridge.port,
    path: target,
    method,
    headers: { authorization: "Bearer secret-alpha", ...headers },
  });
  const answered = new Promise<http.IncomingMessage>((resolve, reject) => request.once("response", resolve).once("error", reject));
  request.end(body);
  const response = await answered;
  const text = await readAll(response);
  return { status: response.statusCode ?? 0, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
}

describe("a file in a workspace", () => {
  test("a file is created with its directories, replaced and deleted", async () => {
    const made = await put("writer", "in/deep/data.csv", "a;b\n");
    expect([made.status, made.text, made.headers.get("etag")]).toEqual([201, "", expect.stringMatching(/^"[0-9a-z-]+"$/)]);
    expect(await readFile(fileOf("writer", "in/deep/data.csv"), "utf8")).toBe("a;b\n");
    const replaced = await put("writer", "in/deep/data.csv", "c");
    expect([replaced.status, replaced.headers.get("etag") === made.headers.get("etag")]).toEqual([204, false]);
    expect(await readdir(fileOf("writer", "in/deep"))).toEqual(["data.csv"]);
    expect((await stat(fileOf("writer", "in/deep/data.csv"))).mode & 0o777).toBe(0o600);
    expect((await remove("writer", "in/deep/data.csv")).status).toBe(204);
    expectProblem(await remove("writer", "in/deep/data.csv"), "not_found");
    expectProblem(await remove("writer", "in/deep"), "not_found");
    expectProblem(await remove("nobody", "a"), "not_found");
    expect(existsSync(workspaceOf("nobody"))).toBe(false);
  });

  test("a file is stored byte for byte, whether its type is JSON, missing, empty or binary", async () => {
    for (const type of ["application/json", "text/plain; charset=utf-16", "multipart/form-data"]) {
      expect([201, 204]).toContain((await put("typed", "a", "{not json", { "content-type": type })).status);
      expect(await readFile(fileOf("typed", "a"), "utf8")).toBe("{not json");
    }
    expect((await sendRaw("PUT", urlOf("typed", "none"), "untyped")).status).toBe(201);
    expect(await readFile(fileOf("typed", "none"), "utf8")).toBe("untyped");
    expect((await sendRaw("PUT", urlOf("typed", "empty"), "", { "content-length": "0" })).status).toBe(201);
    expect(await readFile(fileOf("typed", "empty"), "utf8")).toBe("");
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    const response = await fetch(bridge.url + urlOf("typed", "bytes"), {
      method: "PUT",
      body: bytes,
      headers: { authorization: "Bearer secret-alpha" },
    });
    expect(response.status).toBe(201);
    expect((await readFile(fileOf("typed", "bytes"))).equals(bytes)).toBe(true);
  });

  test("a task reads the file, which is listed for the task only if it changed while the task ran", async () => {
    await put("reader", "in.txt", "from outside");
    const before = Date.now();
    await askUntil(async () => Date.now() - before > 20, Boolean);
    const { body } = await bridge.dispatch(
      { provider: "command", agentId: "reader", taskId: "reads", message: "cat in.txt > out.txt" },
      { headers: { prefer: "wait=20" } },
    );
    expect(body.result).toMatchObject({ status: "ok" });
    const { data } = (await bridge.call("GET", "/api/v2/tasks/reads/files")).body;
    expect(data.map((file: { path: string }) => file.path)).toEqual(["out.txt"]);
    expect((await bridge.call("GET", "/api/v2/tasks/reads/files/out.txt")).text).toBe("from outside");
  });

  test("a file has the same ETag as in the list of the task, and preconditions compare it", async () => {
    const made = await put("tagged", "a.md", "one", { "if-none-match": "*" });
    expect(made.status).toBe(201);
    const etag = made.headers.get("etag") ?? "";
    expectProblem(await put("tagged", "a.md", "two", { "if-none-match": "*" }), "stale_write");
    expectProblem(await put("tagged", "a.md", "two", { "if-match": '"other"' }), "stale_write");
    expectProblem(await put("tagged", "new.md", "two", { "if-match": "*" }), "stale_write");
    expect(await readFile(fileOf("tagged", "a.md"), "utf8")).toBe("one");
    const replaced = await put("tagged", "a.md", "two", { "if-match": `"other", ${etag}` });
    expect(replaced.status).toBe(204);
    // A file that a task changes gets another tag.
    await writeFile(fileOf("tagged", "a.md"), "three");
    expectProblem(await put("tagged", "a.md", "four", { "if-match": replaced.headers.get("etag") ?? "" }), "stale_write");
    expectProblem(await remove("tagged", "a.md", { "if-match": replaced.headers.get("etag") ?? "" }), "stale_write");
    expect((await put("tagged", "a.md", "five", { "if-match": "*" })).status).toBe(204);
    for (const headers of [{ "if-match": "a" }, { "if-match": 'W/"a"' }, { "if-none-match": '"a"' }] as Record<string, string>[])
      expectProblem(await put("tagged", "a.md", "six", headers), "invalid_request");

    await bridge.dispatch(
      { provider: "command", agentId: "tagged", taskId: "tags", message: "echo x > t.md" },
      { headers: { prefer: "wait=20" } },
    );
    const served = await askUntil(
      () => bridge.call("GET", "/api/v2/tasks/tags/files/t.md"),
      ({ headers }) => headers.get("etag")?.startsWith("W/") === false,
    );
    expect((await remove("tagged", "t.md", { "if-match": served.headers.get("etag") ?? "" })).status).toBe(204);
  });

  test("exactly one of two conditional requests creates the file", async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => put("race", "a", String(index), { "if-none-match": "*" })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(7).fill(409)]);
  });

  test("a file has a maximum size and must not be encoded", async () => {
    expectProblem(await put("large", "a", "x".repeat(100 * 1024 + 1)), "too_large");
    expect((await put("large", "a", "x".repeat(100 * 1024))).status).toBe(201);
    expectProblem(await put("large", "b", "x", { "content-encoding": "gzip" }), "unsupported_media_type");
    expect(await readdir(workspaceOf("large"))).toEqual(["a"]);
  });

  test("a file is replaced atomically, so that no client reads a part of it", async () => {
    const [one, other] = ["1".repeat(90_000), "2".repeat(90_000)];
    await put("atomic", "a", one);
    let isOver = false;
    const reading = (async () => {
      const seen = new Set<string>();
      while (!isOver) {
        seen.add(await readFile(fileOf("atomic", "a"), "utf8"));
        await new Promise(setImmediate);
      }
      return seen;
    })();
    for (let round = 0; round < 30; round += 1) await put("atomic", "a", round % 2 === 0 ? other : one);
    isOver = true;
    for (const content of await reading) expect([one, other].includes(content)).toBe(true);
  });
});

describe("hostile paths", () => {
  test.each([
    "..%2fescaped",
    "%2e%2e/escaped",
    "../escaped",
    "a/../../escaped",
    "a/%2e%2e/%2e%2e/escaped",
    "%2fetc%2fescaped",
    "/etc/escaped",
    "a%00b",
    "a%0ab",
    ".",
    "a//b",
    "a/",
    "",
    ".git",
    ".git/hooks/pre-commit",
    ".GIT/config",
    "sub%2f.git%2fconfig",
    "node_modules/.bin/tsc",
    "SOUL.md",
    "agents.md",
    "TOOLS.md",
    "agent.json",
    "x".repeat(256),
    "a/".repeat(64).concat("a"),
  ])("the path %s is rejected, and nothing is written or deleted", async (name) => {
    for (const method of ["PUT", "DELETE"]) {
      const { status, body } = await sendRaw(method, urlOf("hostile", name), method === "PUT" ? "planted" : "");
      expect(status).toBe(400);
      expect(body).toMatchObject({ code: "invalid_request", errors: [{ path: "path", message: expect.any(String) }] });
    }
    expect(existsSync(workspaceOf("hostile"))).toBe(false);
    for (const file of ["workspaces/alpha/escaped", "workspaces/escaped", "escaped"]) expect(existsSync(path.join(root, file))).toBe(false);
  });

  test.each(["..", "a%2fb", "ä", "a.b", "%00", "x".repeat(129)])("the agent %s is rejected", async (agentId) => {
    const { status } = await sendRaw("PUT", `/api/v2/workspaces/${agentId}/files/a`, "planted");
    expect([400, 404, 405]).toContain(status);
    expect(existsSync(path.join(root, "workspaces/alpha/a"))).toBe(false);
  });

  test("a file in place of the workspace is reported to the caller", async () => {
    await mkdir(path.dirname(workspaceOf("occupied")), { recursive: true });
    await writeFile(workspaceOf("occupied"), "a file");
    const refused = await put("occupied", "a.txt", "x");
    expectProblem(refused, "invalid_state");
    expect(refused.body.detail).toBe("The workspace of occupied is not a directory. Remove the file at its path on Bridge's host.");
    await rm(workspaceOf("occupied"));
  });

  test("links that an earlier task left are not followed", async () => {
    const outside = path.join(root, "outside");
    await mkdir(outside, { recursive: true });
    await writeFile(path.join(outside, "secret"), "untouched");
    const script = `ln -s '${outside}' dir; ln -s '${outside}/secret' file; ln -s '${outside}/new' dangling; mkdir real; mkfifo pipe; ln '${outside}/secret' hard`;
    const { body } = await bridge.dispatch({ provider: "command", agentId: "linked", message: script }, { headers: { prefer: "wait=20" } });
    expect(body.result).toMatchObject({ status: "ok" });
    for (const name of ["dir/secret", "dir/new", "file/x"]) {
      const refused = await put("linked", name, "planted");
      expectProblem(refused, "invalid_state");
      expect(refused.body.detail).not.toContain(root);
      expectProblem(await remove("linked", name), "not_found");
    }
    expectProblem(await put("linked", "real", "planted"), "invalid_state");
    // A link with the name of the file is replaced and not followed.
    for (const name of ["file", "dangling", "pipe", "hard"]) expect([201, 204]).toContain((await put("linked", name, "own")).status);
    for (const name of ["file", "dangling", "pipe", "hard"]) expect(await readFile(fileOf("linked", name), "utf8")).toBe("own");
    expectProblem(await remove("linked", "dir"), "not_found");
    expect(await readlink(fileOf("linked", "dir"))).toBe(outside);
    expect([await readFile(path.join(outside, "secret"), "utf8"), await readdir(outside)]).toEqual(["untouched", ["secret"]]);
    await link(path.join(outside, "secret"), fileOf("linked", "named twice"));
    expect((await remove("linked", "named%20twice")).status).toBe(204);
    expect(await readFile(path.join(outside, "secret"), "utf8")).toBe("untouched");
  });

  test("a workspace that the operator replaced by a link can be written to", async () => {
    const elsewhere = path.join(root, "elsewhere");
    await mkdir(elsewhere, { recursive: true });
    await mkdir(path.dirname(workspaceOf("moved")), { recursive: true });
    await symlink(elsewhere, workspaceOf("moved"));
    expect((await put("moved", "a", "here")).status).toBe(201);
    expect(await readFile(path.join(elsewhere, "a"), "utf8")).toBe("here");
    expect((await remove("moved", "a")).status).toBe(204);
  });
});

describe("the list of workspaces", () => {
  test("the list of workspaces is paginated and sorted by name", async () => {
    const own = await startBridge({ BRIDGE_WORKSPACES_DIR: path.join(root, "listed") });
    try {
      await mkdir(path.join(root, "listed/alpha/idle"), { recursive: true });
      for (const agentId of ["writer", "auditor", "writer"]) await own.dispatch({ agentId }, { headers: { prefer: "wait=20" } });
      await own.dispatch({ agentId: "foreign" }, { token: "beta", headers: { prefer: "wait=20" } });
      const first = (await own.call("GET", "/api/v2/workspaces?limit=2")).body;
      expect(first.data).toEqual([
        { id: "auditor", kind: "agent", agentId: "auditor", tasks: 1, updatedAt: expect.any(String) },
        { id: "idle", kind: "agent", agentId: "idle", tasks: 0, updatedAt: expect.any(String) },
      ]);
      const second = (await own.call("GET", `/api/v2/workspaces?limit=2&cursor=${first.meta.nextCursor}`)).body;
      expect(second).toMatchObject({ data: [{ agentId: "writer", tasks: 2 }], meta: { nextCursor: null } });
      expect((await own.call("GET", "/api/v2/workspaces", { token: "beta" })).body.data).toMatchObject([{ agentId: "foreign" }]);
      for (const query of ["limit=0", "limit=201", "cursor=!", "agentId=a"])
        expectProblem(await own.call("GET", `/api/v2/workspaces?${query}`), "invalid_request");
    } finally {
      await own.close();
    }
  });
});
