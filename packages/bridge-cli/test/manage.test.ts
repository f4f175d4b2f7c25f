import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Bridge, startBridge } from "../../../test/support/start-bridge.ts";
import { startReceiver } from "../../../test/support/start-receiver.ts";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import { askUntil } from "../../../test/support/until.ts";
import { accessTo, runCli, runCommand, runOnTerminal } from "./start-cli.ts";

let bridge: Bridge;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let status = 500;
beforeAll(async () => {
  receiver = await startReceiver((response) => response.writeHead(status).end());
  bridge = await startBridge();
});
afterAll(async () => {
  await bridge.close();
  await receiver.close();
});

const run = (...args: string[]) => runCommand(args, { env: accessTo(bridge) });
const dispatch = (body: Record<string, unknown>) => bridge.dispatch(body, { headers: { prefer: "wait=20" } });

test("the beginning of an id is enough if it is unambiguous, and an exact id takes precedence", async () => {
  for (const taskId of ["shared-1", "shared-10", "alone-7f3a"]) await dispatch({ taskId });
  for (const args of [
    ["task", "alone"],
    ["wait", "alone-7"],
    ["tail", "alone"],
    ["files", "alone"],
    ["cancel", "alone-7f3a"],
  ]) {
    const { exitCode, stdout, stderr } = await run(...args);
    expect([args, exitCode, stderr]).toEqual([args, 0, expect.any(String)]);
    if (args[0] !== "files") expect(stdout).toContain("alone-7f3a");
  }
  expect((await run("task", "shared-1", "--json=taskId")).stdout).toContain('"shared-1"');
  const ambiguous = await run("task", "shared");
  expect([ambiguous.exitCode, ambiguous.stderr]).toEqual([2, expect.stringMatching(/several ids: shared-10?, shared-10?\./)]);
  expect(await run("task", "nothing")).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('Task "nothing"') });
});

test("no verb that changes something takes a whole id for the beginning of another one", async () => {
  const generated = "5be0cd19-137e-4179-9b05-688c2b3e6c1f";
  for (const taskId of ["build-7", "build-70", generated]) await dispatch({ taskId });
  expect(await run("delete", "build-7")).toMatchObject({ exitCode: 0 });
  for (const verb of ["delete", "cancel", "rerun", "redeliver"])
    expect(await run(verb, "build-7")).toMatchObject({ exitCode: 5, stdout: "", stderr: expect.stringContaining("whole id: build-70") });
  expect((await bridge.call("GET", "/api/v2/tasks/build-70")).status).toBe(200);
  expect(await run("delete", generated.slice(0, 8))).toMatchObject({ exitCode: 0, stdout: generated });
});

test("an approval is decided by the beginning of its id", async () => {
  await bridge.dispatch({ taskId: "asking", message: "ask", approvals: "ask" });
  const { body } = await askUntil(
    () => bridge.call("GET", "/api/v2/approvals?state=pending&taskId=asking"),
    (answer) => answer.body.data.length === 1,
  );
  const { approvalId } = body.data[0];
  // The approval that a person has read can have ended, and another one of the same minute begins so, too.
  expect(await run("approve", approvalId.slice(0, 12))).toMatchObject({ exitCode: 5, stderr: expect.stringContaining(approvalId) });
  expect(await run("approve", approvalId.slice(0, -4), "--json=approvalId,state")).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining(approvalId),
  });
  expect(await run("approve", "apr_nothing")).toMatchObject({ exitCode: 5 });
});

test("on a terminal of 100 columns, the ids of tasks are whole, and lines fit", async () => {
  const taskId = "fba99f19-6223-4485-b7a1-0123456789ab";
  await dispatch({ taskId, agentId: "a-rather-long-name-of-an-agent", message: "A rather long title of a task that does not fit." });
  const { shown } = await runOnTerminal(["tasks", "--id-prefix", "fba9"], { env: { ...accessTo(bridge), NO_COLOR: "1" } });
  const line = shown.split("\n").find((one) => one.includes("fba9")) ?? "";
  expect(line).toContain(taskId);
  expect(line.trimEnd().length).toBeLessThanOrEqual(100);
});

test("delete removes tasks, and names the one that it cannot delete", async () => {
  for (const taskId of ["old-1", "old-2"]) await dispatch({ taskId });
  expect(await run("delete", "old-1", "old-2")).toMatchObject({ exitCode: 0, stdout: "old-1\nold-2" });
  expect((await bridge.call("GET", "/api/v2/tasks/old-1")).status).toBe(404);
  await bridge.dispatch({ taskId: "busy", message: "wait" });
  expect(await run("delete", "busy")).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('Task "busy"') });
  await run("cancel", "busy");
});

test("rerun dispatches the same request under another id, with the changes of the options", async () => {
  await dispatch({ taskId: "first", message: "Say this.", labels: { team: "docs" }, timeoutSeconds: 60 });
  expect(await run("rerun", "first", "--id", "second", "--timeout", "90")).toMatchObject({ exitCode: 0, stdout: "Say this." });
  const { request } = (await bridge.call("GET", "/api/v2/tasks/second/request")).body;
  expect(request).toMatchObject({ message: "Say this.", labels: { team: "docs" }, timeoutSeconds: 90, agentId: "writer" });
  expect((await run("rerun", "first", "--dry-run")).stdout).toContain("replayed\tfalse");
});

test("dispatch sets the further fields, and any field by its name", async () => {
  const prompt = path.join(await temporaryDirectory(), "prompt.txt");
  await writeFile(prompt, "Be brief.");
  const absent = await run("dispatch", "-a", "writer", "-p", "memory", "--cwd", "no-such-directory", "--dry-run", "Hello.");
  expect(absent).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("metadata.cwd must be an existing directory") });
  const options = ["--id", "fields", "--metadata", '{"ticket":7}', "--system-prompt", `@${prompt}`, "--field", "onInterrupt=retry"];
  await run("dispatch", "-a", "writer", "-p", "memory", ...options, "Hi.");
  expect((await bridge.call("GET", "/api/v2/tasks/fields/request")).body.request).toMatchObject({
    metadata: { ticket: 7 },
    systemPrompt: "Be brief.",
    onInterrupt: "retry",
  });
  expect(await run("dispatch", "-a", "writer", "--metadata", "7", "Hi.")).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("--metadata must be a JSON object"),
  });
});

test("attention lists what needs a person, and acknowledges it", async () => {
  await dispatch({ taskId: "broken", message: "fail" });
  const kinds = async () => (await run("attention")).stdout.split("\n").filter((line) => line.startsWith("failure"));
  expect(await kinds()).toEqual([expect.stringMatching(/^failure\tbroken\t.*\tmodel_error$/)]);
  expect(await run("attention", "broken")).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--acknowledge") });
  expect(await run("attention", "--acknowledge", "failure", "broken")).toMatchObject({ exitCode: 0, stdout: "1" });
  expect(await kinds()).toEqual([]);
  expect((await run("attention", "--acknowledged")).stdout).toContain("broken");
  expect(await run("attention", "--acknowledge", "failure", "--all", "--until", "1h")).toMatchObject({ exitCode: 0, stdout: "0" });
});

test("webhooks lists webhooks and their deliveries, and redelivers dead ones", async () => {
  const file = path.join(await temporaryDirectory(), "webhooks.json");
  const secrets = [`whsec_${Buffer.alloc(32).toString("base64")}`];
  const hook = { name: "oncall", tenant: "alpha", url: receiver.origin, types: ["execution.completed"], secrets };
  await writeFile(file, JSON.stringify([hook]));
  const hooked = await startBridge({ BRIDGE_WEBHOOKS_FILE: file, BRIDGE_PUBLIC_URL: "https://bridge.example" });
  onTestFinished(() => hooked.close());
  const runHere = (...args: string[]) => runCommand(args, { env: accessTo(hooked) });
  for (const taskId of ["a", "b"]) await hooked.dispatch({ taskId });
  await askUntil(
    () => hooked.call("GET", "/api/v2/webhooks"),
    ({ body }) => body.data[0].dead === 2,
  );
  expect((await runHere("webhooks")).stdout).toBe(`oncall\t0\t2\t${receiver.origin}\texecution.completed`);
  const lines = (await runHere("webhooks", "oncall", "--state", "dead")).stdout.split("\n").map((line) => line.split("\t"));
  expect(lines.map((line) => line[3]).toSorted()).toEqual(["a", "b"]);
  status = 204;
  expect((await runHere("webhooks", "oncall", "--redeliver", lines[0]?.[0] ?? "")).stdout).toContain("pending");
  expect(await runHere("webhooks", "oncall", "--redeliver-dead")).toMatchObject({ exitCode: 0, stdout: "1" });
  expect(await runHere("webhooks", "--redeliver-dead")).toMatchObject({ exitCode: 2 });
});

test("usage sums up today, yesterday and a range of local days, and marks a sum that lacks unknown costs", async () => {
  await dispatch({ taskId: "priced", message: "look", agentId: "payer" });
  await dispatch({ taskId: "unpriced", agentId: "payer" });
  const env = { ...accessTo(bridge), TZ: "Asia/Kolkata" };
  const { stdout } = await runCli(["usage", "--yesterday", "--json=from,to,total.tasks"], { env });
  const { from, to } = JSON.parse(stdout) as { from: string; to: string };
  expect([Date.parse(to) - Date.parse(from), from.slice(11, 16)]).toEqual([25 * 3_600_000, "18:00"]);
  expect(JSON.parse((await runCli(["usage", "--today", "--json"], { env })).stdout).total.tasks).toBeGreaterThan(1);
  const range = JSON.parse((await runCli(["usage", "--from", "2026-01-02", "--to", "2026-01-03", "--json"], { env })).stdout);
  expect([range.from, range.total.tasks]).toEqual(["2026-01-01T18:00:00.000Z", 0]);
  expect((await run("usage", "--today", "--window", "7d")).exitCode).toBe(2);
  expect((await run("usage", "--to", "2026-01-01")).exitCode).toBe(2);
  const { shown } = await runOnTerminal(["usage"], { env: accessTo(bridge) });
  expect(shown).toMatch(/payer .*\$0\.25 \+ \?/);
  expect(shown).toContain(" time.");
});

test("completion offers ids, adapters and agents of Bridge", async () => {
  await dispatch({ taskId: "known-1", agentId: "gardener" });
  expect((await run("complete", "tasks", "known")).stdout).toBe("known-1");
  expect((await run("complete", "adapters")).stdout.split("\n")).toContain("memory");
  expect((await run("complete", "agents")).stdout.split("\n")).toContain("gardener");
  for (const shell of ["bash", "zsh", "fish"]) {
    const { stdout } = await run("completion", shell);
    expect(stdout).toMatch(/live=tasks|complete tasks/);
    expect(stdout).toContain("brg");
  }
});
