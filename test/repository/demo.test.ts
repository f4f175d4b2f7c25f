import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { execa } from "execa";
import { Webhook } from "standardwebhooks";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { startBridge } from "../../scripts/demo/bridge-process.ts";
import { startReceiver } from "../../scripts/demo/receiver.ts";
import { createModelServer } from "../runtimes/model-server/server.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const repository = path.resolve(import.meta.dirname, "../..");
const program = path.join(repository, "scripts/demo.ts");
const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

test("the demo shows the dispatch, the events and the verified callback on one screen, and cleans up", async () => {
  const directory = await temporaryDirectory();
  const { exitCode, stdout, stderr } = await startDemo(directory);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  const lines = stdout.split("\n");
  expect(lines.length).toBeLessThanOrEqual(40);
  expect(lines.filter((line) => line.length > 100)).toEqual([]);

  expect(stdout).toMatch(/POST \/api\/v2\/dispatch {2}\{"taskId":"demo-1"/);
  expect(stdout).toMatch(/202 {2}\{"taskId":"demo-1","provider":"command","agentId":"auditor","state":"(queued|running)"/);
  const shown = [...stdout.matchAll(/^ {2}\+\d\.\d{3} s {2}#(\d+) +(\S+)/gm)].map(([, , type]) => type);
  expect(shown).toEqual(expect.arrayContaining(["execution.progress", "tool.invoked", "tool.completed", "assistant.text"]));
  expect([shown[0], shown.at(-1)]).toEqual(["execution.started", "execution.completed"]);
  expect(stdout).toMatch(/attempt 1, webhook-id msg_\w+\n {2}signature ok, .*: v1,/);
  expect(stdout).toMatch(/status ok in \d+ ms:\n {4}\d+ files, .* `BRIDGE` occurs [1-9]\d* times\./);
  expect(stdout).toMatch(/callback\.delivered \{"attempts":1,"status":204\}/);
  expect(stdout).toMatch(/Idempotent-Replayed: true, state completed/);
  expect(stdout).not.toContain("\x1b");
  expect(lines.map(shapeOf)).toEqual(
    expect.arrayContaining(
      sampleOf("demo", "README.md")
        .filter((line) => line.trim() !== "…")
        .map(shapeOf),
    ),
  );
  expect(await readdir(directory)).toEqual([]);
});

test("the demo with --keep continues to run, prints commands that work, and shuts down gracefully on Ctrl-C", async () => {
  const directory = await temporaryDirectory();
  const demo = startDemo(directory, "--keep");
  const kept = await readUntil(demo, "/docs");
  // The console is the first suggestion, and its link signs in.
  const [, signIn = ""] = /\n\nOpen the console \(.+\):\n(\S+)\n[\s\S]+export BRIDGE=/.exec(kept) ?? [];
  const session = await fetch(new URL("/api/v2/sessions", signIn), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ticket: new URLSearchParams(new URL(signIn).hash.slice(1)).get("t") }),
  });
  expect(session.status).toBe(201);
  const [, bridge = "", token = ""] = /export BRIDGE=(\S+) TOKEN=(\S+)/.exec(kept) ?? [];
  const call = (route: string, init: RequestInit = {}): Promise<Response> =>
    fetch(bridge + route, {
      ...init,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", prefer: "wait=30" },
    });

  const [, task = ""] = /\$BRIDGE(\/api\/v2\/tasks\/\S+)/.exec(kept) ?? [];
  expect(await (await call(task)).json()).toMatchObject({ taskId: "demo-1", state: "completed", callback: { state: "delivered" } });
  const [, body = ""] = /-d '(.+)'/.exec(kept) ?? [];
  const news = readUntil(demo, "status ok\n");
  expect(await (await call("/api/v2/dispatch", { method: "POST", body })).json()).toMatchObject({ state: "completed" });
  expect(await news).toMatch(/^Callback of [\w-]+: attempt 1, signature ok, status ok$/m);

  demo.kill("SIGINT");
  const { exitCode, stderr } = await demo;
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(await readdir(directory)).toEqual([]);
  await expect(call("/healthz")).rejects.toThrow("fetch failed");
});

test("the demo of work trees shows the whole diffs of two tasks that edit one file at once, applies both, and cleans up", async () => {
  const directory = await temporaryDirectory();
  const { exitCode, stdout, stderr } = await startDemo(directory, "--trees");
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(stdout.match(/^ {2}[+-]export.*$/gm)).toEqual([
    ...["  -export const vat = 0.19;", "  +export const vat = 0.07;"],
    ...["  -export const shipping = (net) => (net > 50 ? 0 : 4.9);", "  +export const shipping = (net) => (net > 50 ? 0 : 5.9);"],
  ]);
  expect(stdout).toMatch(
    /Bridge: Uncommitted changes of task fix-2\n {2}Bridge: Uncommitted changes of task fix-1\n {2}You: Add prices\n?$/,
  );
  expect(stdout.split("\n").filter((line) => line.length > 100)).toEqual([]);
  expect(await readdir(directory)).toEqual([]);
  expect((await startDemo(directory, "--trees", "--keep")).exitCode).toBe(2);
});

test("an interrupted demo exits with the signal's exit code and leaves no files", async () => {
  const directory = await temporaryDirectory();
  const demo = startDemo(directory);
  // Interrupt it after its first output, while Bridge is still starting.
  await vi.waitFor(async () => expect(await readdir(directory)).toHaveLength(1), { interval: 5, timeout: 15_000 });
  demo.kill("SIGINT");
  const { exitCode } = await demo;
  expect(exitCode).toBe(130);
  expect(await readdir(directory)).toEqual([]);
});

test("the demo cleans up after its reader has closed stdout", async () => {
  const directory = await temporaryDirectory();
  const demo = startDemo(directory);
  demo.stdout.destroy();
  expect((await demo).exitCode).toBe(141);
  expect(await readdir(directory)).toEqual([]);
});

test("the demo rejects unknown options and providers, and prints its usage", async () => {
  const { exitCode, stdout, stderr } = await startDemo(await temporaryDirectory(), "--agent", "claude");
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  expect(stderr).toMatch(/Unknown option '--agent'[\s\S]*Usage: npm run demo/);
  const unknown = await startDemo(await temporaryDirectory(), "--provider", "hal-9000");
  expect(unknown.exitCode).toBe(2);
  expect(unknown.stderr).toMatch(
    /--provider must be one of command, claude, codex, gemini, opencode, installed; got hal-9000\.[\s\S]*Usage: npm run demo/,
  );
});

describe("the demo with an agent program of the operator", () => {
  /** Prints its version and the events of a task like Gemini CLI. */
  const gemini = `#!/bin/sh
case "$*" in
  --version) echo 0.61.0;;
  *) cat > /dev/null
    echo '{"type":"init","session_id":"s1","model":"m"}'
    echo '{"type":"message","role":"assistant","content":"Hello! Here are docs and examples.","delta":true}'
    echo '{"type":"result","status":"success","stats":{"total_tokens":165,"input_tokens":130,"output_tokens":30}}';;
esac
`;
  async function demoOf(provider: string, settings: Record<string, string>) {
    const [directory, bin] = [await temporaryDirectory(), await temporaryDirectory()];
    await writeFile(path.join(bin, "gemini"), gemini, { mode: 0o755 });
    const environment = { TMPDIR: directory, PATH: `${bin}:/usr/bin:/bin`, HOME: bin, BRIDGE_GEMINI_CONNECTION: "cli", ...settings };
    const result = await startDemoIn(environment, "--provider", provider);
    expect(await readdir(directory)).toEqual([]);
    return result;
  }

  test("the demo with an agent program of the operator shows the preflight and a read-only task", async () => {
    const { exitCode, stdout, stderr } = await demoOf("gemini", { GEMINI_API_KEY: "key" });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/ok {2}primary connection +cli: gemini 0\.61\.0/);
    expect(stdout).toContain('"profile":"inspect"');
    expect(stdout).toMatch(/assistant\.text +"Hello! Here are docs and examples\."/);
    expect(stdout).toMatch(
      /signature ok, [\s\S]*status ok in \d+ ms:\n {4}Hello! Here are docs and examples\.\n.*: 130 tokens in, 35 out\n/,
    );
    expect(stdout).toMatch(/^ {2}npm run demo -- --provider gemini --keep {2}keeps Bridge running, with a link to the console$/m);
    expect(stdout).toMatch(/^ {2}BRIDGE_ADAPTERS=gemini npm start +start Bridge$/m);
    expect(stdout.split("\n").filter((line) => line.length > 100)).toEqual([]);
  });

  test.each([
    ["is not installed", "claude", {}, /^\nclaude is not ready:\n[\s\S]* {2}cli: claude was not found on PATH\. Run npm install -g /],
    ["has no key", "gemini", { GEMINI_API_KEY: "" }, /^\ngemini is not ready:\n {2}Set GEMINI_API_KEY/],
    ["does not work", "gemini", { BRIDGE_GEMINI_COMMAND: "false", GEMINI_API_KEY: "key" }, /--version prints no version/],
  ])(
    "the demo with an agent program of the operator that %s prints what to do, and dispatches nothing",
    async (_name, provider, settings, words) => {
      const { exitCode, stdout, stderr } = await demoOf(provider, settings as Record<string, string>);
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(words);
      expect(stderr).not.toContain("The last lines of Bridge");
      expect(stdout).not.toContain("Dispatch");
    },
  );

  test("the demo with an agent program of the operator is found on PATH, and the demo without options suggests it", async () => {
    const { exitCode, stdout } = await demoOf("installed", { GEMINI_API_KEY: "key" });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/ok {2}primary connection +cli: gemini 0\.61\.0/);
    const suggesting = await demoOf("command", {});
    expect(suggesting.stdout).toMatch(/^ {2}npm run demo -- --provider gemini +ask Gemini CLI, which is installed$/m);
  });

  test("the demo with an agent program of the operator that is missing is named with the commands that install one, and nothing runs", async () => {
    const { exitCode, stdout, stderr } = await demoOf("installed", { PATH: "/nowhere" });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(
      /^No agent program is on PATH\. Install one with Node 22 or newer[\s\S]*\n {2}npm install -g @anthropic-ai\/claude-code +# Claude Code\n/,
    );
    expect(stderr.match(/npm install -g/g)).toHaveLength(4);
    const suggesting = await demoOf("command", { PATH: "/nowhere" });
    expect(suggesting.stdout).toMatch(/^ {2}npm run demo -- --provider installed +ask a real agent; install/m);
  });

  test("the demo with an agent program of the operator that fails prints the reason, and no log of Bridge", async () => {
    const bin = await temporaryDirectory();
    const failing = path.join(bin, "failing-gemini");
    await writeFile(failing, gemini.replace('"status":"success"', '"status":"error","error":{"message":"quota exceeded"}'), {
      mode: 0o755,
    });
    const { exitCode, stderr } = await demoOf("gemini", { GEMINI_API_KEY: "key", BRIDGE_GEMINI_COMMAND: failing });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^\nThe task failed: The rate limit or .+/);
    expect(stderr).toContain("quota exceeded");
    expect(stderr).not.toContain("The last lines of Bridge");
  });

  test("the demo with an agent program of the operator that is not installed does not fall back to the vendor's model API", async () => {
    const model = await createModelServer();
    onTestFinished(() => model.close());
    const { exitCode, stdout, stderr } = await demoOf("codex", { OPENAI_API_KEY: "key", OPENAI_BASE_URL: `${model.url}/v1` });
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/ok {2}tertiary connection +api: /);
    expect(stderr).toMatch(/^\ncodex is not ready:\n[\s\S]* {2}cli: codex was not found on PATH\. Run npm install -g /);
    expect(stdout).not.toContain("Dispatch");
  });
});

test.each([
  ["demo", "$ npm run demo", "README.md"],
  ["demo-trees", "$ npm run demo -- --trees", "docs/work-trees.md"],
])("the pictures of %s show what a page contains, within 150 kB, and all of it without animation", (name, command, page) => {
  for (const theme of ["light", "dark"]) {
    const picture = readFileSync(path.join(repository, `docs/images/${name}-${theme}.svg`), "utf8");
    const lines = [...picture.matchAll(/<text [^>]*>(.*)<\/text>/g)].map(([, text = ""]) => toPlainText(text));
    expect(lines).toEqual([command, ...sampleOf(name, page).filter((line) => line !== "")]);
    expect(picture.length).toBeLessThan(150_000);
    // Lines are hidden only by the animation, which readers with reduced motion do not get.
    const [, still = ""] = /<style>([\s\S]*?)@media \(prefers-reduced-motion:no-preference\)\{/.exec(picture) ?? [];
    expect(still).not.toBe("");
    expect(still).not.toMatch(/opacity|animation/);
  }
});

test("the demo prints why Bridge did not start", async () => {
  const options = { directory: await temporaryDirectory(), secret, signal: AbortSignal.timeout(20_000), settings: { BRIDGE_PORT: "many" } };
  await expect(startBridge(options)).rejects.toThrow(/Bridge did not start:\n[\s\S]*BRIDGE_PORT: must be a whole number/);
});

test("the receiver of the demo rejects a forged callback, and counts attempts", async () => {
  const receiver = await startReceiver({ secret, signal: AbortSignal.timeout(20_000) });
  onTestFinished(() => receiver.close());
  const body = JSON.stringify({ taskId: "demo-1", status: "ok" });
  const at = new Date();
  const headers = {
    "webhook-id": "msg_1",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign("msg_1", at, body),
  };
  const post = async (text: string): Promise<number> => (await fetch(receiver.url, { method: "POST", headers, body: text })).status;
  expect([await post(body), await post(body.replace("ok", "error")), await post(body)]).toEqual([204, 401, 204]);
  expect(await receiver.next()).toMatchObject({ attempt: 1, body: { status: "ok" } });
  await expect(receiver.next()).rejects.toThrow("No matching signature");
  expect(await receiver.next()).toMatchObject({ attempt: 2 });
});

function startDemo(directory: string, ...options: string[]) {
  return startDemoIn({ TMPDIR: directory }, ...options);
}

function startDemoIn(changes: Record<string, string>, ...options: string[]) {
  const { FORCE_COLOR: _, ...environment } = process.env;
  // An invalid setting: the demo must ignore the settings in its environment.
  const env = { ...environment, BRIDGE_ADAPTERS: "none-of-them", ...changes };
  return execa(process.execPath, [program, ...options], { env, extendEnv: false, stdin: "ignore", reject: false, timeout: 60_000 });
}

/** Returns the lines that a page shows of the output of a demo. */
function sampleOf(name: string, page: string): string[] {
  const text = readFileSync(path.join(repository, page), "utf8");
  const [, sample = ""] = new RegExp(`<!-- ${name} -->\n\`\`\`\n([\\s\\S]+)\`\`\`\n<!-- /${name} -->`).exec(text) ?? [];
  expect(sample).not.toBe("");
  return sample.trimEnd().split("\n");
}

/** Returns the text of SVG elements. */
const toPlainText = (xml: string): string =>
  xml
    .replaceAll(/<[^>]+>/g, "")
    .replaceAll("\u00a0", " ")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");

/** Replaces the parts of a line that differ between runs. */
const shapeOf = (line: string): string =>
  line
    .replace(/v1,\S+/, "v1,…")
    .replaceAll(/\d+(,\d{3})*/g, "0")
    .replaceAll(/ +/g, " ")
    .slice(0, 60);

/** Reads the output of the demo until it contains `end`. */
async function readUntil({ stdout }: ReturnType<typeof startDemo>, end: string): Promise<string> {
  let text = "";
  while (!text.includes(end)) text += String((await once(stdout, "data"))[0]);
  return text;
}
