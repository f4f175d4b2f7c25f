import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readlink, rm, truncate, writeFile } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCommandAdapter } from "../../../adapters/command/index.ts";
import { MAX_FILE_RESPONSE_BYTES } from "../../../src/http/routes/send-file.ts";
import { collectGarbage } from "../../support/collect-garbage.ts";
import { type Bridge, expectProblem, startBridge } from "../../support/start-bridge.ts";
import { askUntil } from "../../support/until.ts";

// The agent runs its message as a shell script in its workspace, so real processes write the files.
const agent = `const { message } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
  require("node:child_process").execFileSync("/bin/sh", ["-c", message], { stdio: "inherit" });`;
const MIB = 1024 ** 2;
let bridge: Bridge;
let root: string;
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), "bridge-test-"));
  bridge = await startBridge(
    { BRIDGE_WORKSPACES_DIR: path.join(root, "workspaces"), BRIDGE_COMMAND: JSON.stringify([process.execPath, "-e", agent]) },
    { adapters: [{ provider: "command", adapter: createCommandAdapter() }] },
  );
});
afterAll(async () => {
  await bridge.close();
  await rm(root, { recursive: true });
});

const workspaceOf = (agentId: string) => path.join(root, "workspaces/alpha", agentId);
const get = (target: string, headers: Record<string, string> = {}) => bridge.call("GET", target, { headers });
const pathsOf = async (taskId: string) =>
  (await get(`/api/v2/tasks/${taskId}/files`)).body.data.map((file: { path: string }) => file.path) as string[];

/** Runs a script as a task and waits for its end. The agent has the name of the task by default. */
async function run(taskId: string, message: string, agentId = taskId): Promise<void> {
  const { body } = await bridge.dispatch({ provider: "command", taskId, agentId, message }, { headers: { prefer: "wait=20" } });
  expect(body.result).toMatchObject({ status: "ok" });
}

/** Starts a script that runs until `end` is called. */
async function begin(taskId: string, script: string): Promise<{ end(): Promise<void> }> {
  const flag = path.join(root, `${taskId}-may-end`);
  const message = `${script}\ntouch started; while [ ! -e '${flag}' ]; do sleep 0.02; done`;
  await bridge.dispatch({ provider: "command", taskId, agentId: taskId, message });
  const isAsWished = (file: string) => askUntil(async () => existsSync(file), Boolean);
  await isAsWished(path.join(workspaceOf(taskId), "started"));
  return {
    async end() {
      await writeFile(flag, "");
      await askUntil(
        () => get(`/api/v2/tasks/${taskId}`),
        ({ body }) => body.state === "completed",
      );
    },
  };
}

/** Returns the bytes of memory in use, of objects and buffers. */
async function measureMemory(): Promise<number> {
  // The memory of a collected buffer is released by the next collection at the latest.
  for (let pass = 0; pass < 2; pass += 1) {
    collectGarbage();
    await setImmediate();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Connections stay open, so a client that receives fewer bytes than announced would wait for the rest. */
const staying = new http.Agent({ keepAlive: true });
afterAll(() => staying.destroy());

/** Sends a request without the normalization of `fetch`. Counts the bytes of the body and reports how it ended. */
function getRaw(
  target: string,
  {
    onStart = () => {},
    onChunk = () => {},
  }: { onStart?: (response: http.IncomingMessage) => unknown; onChunk?: (bytes: number, response: http.IncomingMessage) => unknown } = {},
) {
  return new Promise<{ status: number; headers: http.IncomingHttpHeaders; bytes: number; isWhole: boolean }>((resolve, reject) => {
    const headers = { authorization: "Bearer secret-alpha" };
    const request = http.get({ host: "127.0.0.1", port: bridge.port, path: target, headers, agent: staying }, async (response) => {
      let bytes = 0;
      const { statusCode: status = 0, headers } = response;
      response.once("close", () => resolve({ status, headers, bytes, isWhole: response.complete })).on("error", () => {});
      await onStart(response);
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        onChunk(bytes, response);
      });
    });
    request.once("error", reject);
  });
}

test("files that a task left are listed by path and downloaded unchanged; earlier files are not listed", async () => {
  await mkdir(workspaceOf("writer"), { recursive: true });
  await writeFile(path.join(workspaceOf("writer"), "SOUL.md"), "Be brief.");
  const before = Date.now();
  // File timestamps have the resolution of the kernel tick.
  await askUntil(async () => Date.now() - before > 20, Boolean);
  await run("writer", "mkdir -p sub/dir .git; printf ok > report.md; printf Grüße > 'sub/dir/ü #1%.txt'; : > .hidden; : > .git/index");
  const { status, headers, body } = await get("/api/v2/tasks/writer/files");
  expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
  const modifiedAt = expect.stringMatching(/^\d{4}-.*Z$/);
  expect(body).toEqual({
    data: [
      { path: ".hidden", bytes: 0, modifiedAt },
      { path: "report.md", bytes: 2, modifiedAt },
      { path: "sub/dir/ü #1%.txt", bytes: 7, modifiedAt },
    ],
    meta: { nextCursor: null, truncated: false },
  });
  expect(Date.parse(body.data[1].modifiedAt)).toBeGreaterThanOrEqual(before);

  const report = await get("/api/v2/tasks/writer/files/report.md");
  expect([report.status, report.text]).toEqual([200, "ok"]);
  expect(Object.fromEntries(report.headers)).toMatchObject({
    "content-type": "application/octet-stream",
    "content-disposition": "attachment; filename=report.md",
    "content-length": "2",
    "accept-ranges": "bytes",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  const named = await get(`/api/v2/tasks/writer/files/${encodeURIComponent("sub/dir/ü #1%.txt")}`);
  expect([named.text, named.headers.get("content-disposition")]).toEqual([
    "Grüße",
    expect.stringContaining("filename*=UTF-8''%C3%BC%20%231%25.txt"),
  ]);
  expect((await get(`/api/v2/tasks/writer/files/${"sub/dir/ü #1%.txt".split("/").map(encodeURIComponent).join("/")}`)).text).toBe("Grüße");
  expect(await get("/api/v2/tasks/writer/files/.hidden")).toMatchObject({ status: 200, text: "" });
  expectProblem(await get("/api/v2/tasks/writer/files/SOUL.md"), "not_found");
});

test("a file that a later task changes belongs to the later task; a failed task has files too", async () => {
  await run("first", "echo 1 > shared; echo 1 > own", "team");
  await bridge.dispatch(
    { provider: "command", taskId: "second", agentId: "team", message: "sleep 0.05; echo 2 > shared; exit 3" },
    { headers: { prefer: "wait=20" } },
  );
  expect(await pathsOf("first")).toEqual(["own"]);
  expect(await pathsOf("second")).toEqual(["shared"]);
  expect((await get("/api/v2/tasks/second/files/shared")).text).toBe("2\n");
  const changed = await get("/api/v2/tasks/first/files/shared");
  expectProblem(changed, "not_found");
  expect(changed.body.detail).toBe("The file was changed after the end of the task.");
});

test("the list of files is paginated", async () => {
  await run("many", "mkdir a; for name in 1 2 a/1 a/2 b 'ü'; do : > $name; done");
  const pages: string[][] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const { body } = await get(`/api/v2/tasks/many/files?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`);
    pages.push(body.data.map((file: { path: string }) => file.path));
    cursor = body.meta.nextCursor;
  }
  expect(pages).toEqual([
    ["1", "2"],
    ["a/1", "a/2"],
    ["b", "ü"],
  ]);
  for (const query of ["limit=0", "limit=201", "cursor=", "cursor=!", "cursor=_w", `cursor=${"a".repeat(7000)}`, "path=a"])
    expectProblem(await get(`/api/v2/tasks/many/files?${query}`), "invalid_request");
});

describe("a range", () => {
  const target = "/api/v2/tasks/ranges/files/digits";
  beforeAll(() => run("ranges", "printf 0123456789 > digits; : > empty"));

  test.each([
    ["bytes=0-0", "0", "0-0"],
    ["bytes=3-5", "345", "3-5"],
    ["bytes=7-", "789", "7-9"],
    ["bytes=-2", "89", "8-9"],
    ["bytes=8-99", "89", "8-9"],
  ])("the range %s returns this part of the file", async (range, text, contentRange) => {
    const part = await get(target, { range });
    expect([part.status, part.text]).toEqual([206, text]);
    expect(part.headers.get("content-range")).toBe(`bytes ${contentRange}/10`);
    expect(part.headers.get("content-length")).toBe(String(text.length));
  });

  test.each(["bytes=5-2", "bytes=0-1,3-4", "lines=1-2", "bytes=x"])(
    "the range %s is not supported and returns the whole file",
    async (range) => {
      const whole = await get(target, { range });
      expect([whole.status, whole.text, whole.headers.get("content-range")]).toEqual([200, "0123456789", null]);
    },
  );

  test.each([
    [target, "bytes=10-", 10],
    [target, "bytes=-0", 10],
    [target.replace("digits", "empty"), "bytes=0-", 0],
  ])("a range in %s, the range %s starts after the end", async (file, range, size) => {
    const refused = await get(file, { range });
    expectProblem(refused, "range_not_satisfiable");
    expect(refused.headers.get("content-range")).toBe(`bytes */${size}`);
  });

  test("a range is returned only if the file still has the ETag in If-Range", async () => {
    // A recently changed file has a weak tag, because two changes could have the same timestamp.
    const { headers } = await askUntil(
      () => bridge.call("HEAD", target),
      (answer) => answer.headers.get("etag")?.startsWith('"') === true,
    );
    const tag = headers.get("etag") ?? "";
    expect((await get(target, { range: "bytes=1-2", "if-range": tag })).status).toBe(206);
    for (const other of ['"other"', `W/${tag}`, new Date().toUTCString()])
      expect((await get(target, { range: "bytes=1-2", "if-range": other })).text).toBe("0123456789");
  });

  test("HEAD ignores a range and returns all headers without a body", async () => {
    const head = await bridge.call("HEAD", target, { headers: { range: "bytes=1-2" } });
    expect([head.status, head.text, head.headers.get("content-length")]).toEqual([200, "", "10"]);
    expect((await bridge.call("HEAD", `${target}-missing`)).status).toBe(404);
  });
});

describe("paths outside of the workspace", () => {
  beforeAll(async () => {
    await writeFile(path.join(root, "secret"), "secret");
    const lines = [
      "printf inside > kept",
      `ln -s '${root}/secret' to-file; ln -s '${root}' to-directory; ln -s kept to-kept; ln -s / to-root; ln -s /dev/zero zero`,
      `ln '${root}/secret' hard; mkfifo pipe; mkdir directory; ln -s ../.. directory/up`,
    ];
    await run("hostile", lines.join("\n"));
  });

  test("links and special files of a task are neither listed nor followed", async () => {
    expect(await pathsOf("hostile")).toEqual(["kept"]);
    for (const name of [
      "to-file",
      "to-directory/secret",
      "to-kept",
      "to-root/etc/passwd",
      "zero",
      "hard",
      "pipe",
      "directory",
      "directory/up/beta",
    ])
      expectProblem(await get(`/api/v2/tasks/hostile/files/${name}`), "not_found");
  });

  test.each([
    "",
    "/",
    "%2f",
    "..",
    "../..",
    "%2e%2e/%2e%2e/secret",
    "..%2f..%2fsecret",
    "%2e%2e%2f%2e%2e%2f%2e%2e%2fsecret",
    "%252e%252e%252fsecret",
    "..%5c..%5csecret",
    "directory/../../../../secret",
    "directory/..%2f..%2f..%2f..%2fsecret",
    "./kept",
    "directory/../kept",
    "//kept",
    "kept/",
    "kept%00",
    "kept%00.txt",
    "%2fetc%2fpasswd",
    "/etc/passwd",
    "%c0%ae%c0%ae/secret",
    "%",
    "kept;a=b",
    "a/".repeat(2000),
    "x".repeat(8000),
  ])("the path in row %# does not leave the workspace", async (name) => {
    const answer = await getRaw(`/api/v2/tasks/hostile/files/${name}`);
    expect([400, 404]).toContain(answer.status);
    expect(answer.headers["content-type"]).toContain("application/problem+json");
  });

  test("paths outside of the workspace names that contain dots are ordinary names", async () => {
    expect((await getRaw("/api/v2/tasks/hostile/files/%6bept")).status).toBe(200);
    expect((await getRaw("/api/v2/tasks/hostile/files/kept?raw=1")).status).toBe(400);
  });
});

test("the files of another tenant's task result in 404, and the routes require the scope read", async () => {
  await run("private", "echo secret > report");
  for (const target of ["/api/v2/tasks/private/files", "/api/v2/tasks/private/files/report"]) {
    const refused = await bridge.call("GET", target, { token: "beta" });
    expectProblem(refused, "not_found");
    expect(refused.body.detail).toBe((await get(target.replace("private", "unknown"))).body.detail);
    expectProblem(await bridge.call("GET", target, { token: "dispatcher" }), "scope_missing");
    expect((await bridge.call("GET", target, { token: "reader" })).status).toBe(200);
    expectProblem(await bridge.call("GET", target, { token: null }), "unauthenticated");
    expectProblem(await bridge.call("POST", target), "method_not_allowed");
  }
});

describe("a large file", () => {
  const target = "/api/v2/tasks/large/files";
  beforeAll(() => run("large", `truncate -s ${100 * MIB} 100M; truncate -s ${MAX_FILE_RESPONSE_BYTES + 10} larger`));

  test("a large file is streamed and never kept in memory", async () => {
    const before = await measureMemory();
    const grown: number[] = [];
    const answer = await getRaw(`${target}/100M`, {
      async onChunk(bytes, response) {
        if (bytes < (grown.length + 1) * 10 * MIB) return;
        response.pause();
        grown.push((await measureMemory()) - before);
        response.resume();
      },
    });
    expect(answer).toMatchObject({ status: 200, bytes: 100 * MIB, isWhole: true });
    expect(grown.length).toBeGreaterThanOrEqual(9);
    expect(Math.max(...grown)).toBeLessThan(10 * MIB);
  });

  test("a file larger than the maximum response is returned in ranges only", async () => {
    expectProblem(await get(`${target}/larger`), "too_large");
    expectProblem(await get(`${target}/larger`, { range: "bytes=0-" }), "too_large");
    const end = await get(`${target}/larger`, { range: `bytes=${MAX_FILE_RESPONSE_BYTES}-` });
    expect([end.status, end.text]).toEqual([206, "\0".repeat(10)]);
  });

  test("the file is closed when the client disconnects", async () => {
    const openFiles = async () => {
      const links = await Promise.all((await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")));
      return links.filter((link) => link.endsWith("/large/100M")).length;
    };
    const onStart = async (response: http.IncomingMessage) => {
      expect(await openFiles()).toBe(1);
      response.destroy();
    };
    const answer = await getRaw(`${target}/100M`, { onStart });
    expect(answer.isWhole).toBe(false);
    await askUntil(openFiles, (count) => count === 0);
  });
});

describe("a file that changes while it is sent", () => {
  const size = 64 * MIB;

  test("a file that grows is returned up to its announced length", async () => {
    const task = await begin("growing", `truncate -s ${size} log`);
    const file = path.join(workspaceOf("growing"), "log");
    const answer = await getRaw("/api/v2/tasks/growing/files/log", { onStart: () => truncate(file, 2 * size) });
    await task.end();
    expect(answer).toMatchObject({ status: 200, bytes: size, isWhole: true });
    expect(answer.headers["content-length"]).toBe(String(size));
  });

  test("a file that shrinks closes the connection, so that no client mistakes a part for the whole", async () => {
    const task = await begin("shrinking", `truncate -s ${size} log`);
    const file = path.join(workspaceOf("shrinking"), "log");
    const answer = await getRaw("/api/v2/tasks/shrinking/files/log", { onStart: () => truncate(file, 10) });
    expect([answer.status, answer.isWhole]).toEqual([200, false]);
    expect(answer.bytes).toBeLessThan(size);
    expect((await getRaw("/api/v2/tasks/shrinking/files/log")).bytes).toBe(10);
    await task.end();
  });

  test("a file that changes after the end of its task closes the connection, and the next request reports why", async () => {
    await run("changing", `truncate -s ${size} log`);
    const file = path.join(workspaceOf("changing"), "log");
    const answer = await getRaw("/api/v2/tasks/changing/files/log", {
      async onStart() {
        const endedAt = Date.now();
        // File timestamps have the resolution of the kernel tick, so an earlier write could appear to precede the end of the task.
        await askUntil(async () => Date.now() - endedAt > 20, Boolean);
        await writeFile(file, "x", { flag: "r+" });
      },
    });
    expect([answer.status, answer.isWhole]).toEqual([200, false]);
    expect((await get("/api/v2/tasks/changing/files/log")).body.detail).toBe("The file was changed after the end of the task.");
  });

  test("a deleted file results in 404 and is not listed", async () => {
    const task = await begin("removing", "echo > log");
    expect(await pathsOf("removing")).toEqual(["log", "started"]);
    await rm(path.join(workspaceOf("removing"), "log"));
    expect(await pathsOf("removing")).toEqual(["started"]);
    expectProblem(await get("/api/v2/tasks/removing/files/log"), "not_found");
    await task.end();
  });
});
