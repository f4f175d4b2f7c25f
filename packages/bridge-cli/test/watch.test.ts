import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bridge, startBridge } from "../../../test/support/start-bridge.ts";
import { accessTo, runCli, startCli, startOnTerminal } from "./start-cli.ts";

let bridge: Bridge;
beforeAll(async () => {
  bridge = await startBridge();
});
afterAll(() => bridge.close());

const env = () => accessTo(bridge);
const cancel = (taskId: string) => bridge.call("POST", `/api/v2/tasks/${taskId}/cancel`);
const statesIn = (text: string) =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { taskId: string; state: string })
    .map(({ taskId, state }) => `${taskId} ${state}`);
const OPEN_SCREEN = "\u001b[?1049h";
const CLOSE_SCREEN = "\u001b[?1049l";

test("brg tasks --watch shows the list again when a task changes, and leaves the last list on the terminal", async () => {
  await bridge.dispatch({ taskId: "listed-1", agentId: "listed", message: "wait" });
  const cli = await startOnTerminal(["tasks", "--watch", "--agent", "listed"], { env: env() });
  await cli.waitFor(/listed-1 {2}.*running/);
  expect(cli.shown()).toContain(OPEN_SCREEN);
  await bridge.dispatch({ taskId: "listed-2", agentId: "listed", message: "Hello." });
  await cli.waitFor(/listed-2 {2}.*completed/);
  await cancel("listed-1");
  await cli.waitFor(/listed-1 {2}.*cancelled/);
  cli.type("\u0003");
  expect(await cli.exited).toBe(130);
  const [, left = ""] = cli.shown().split(CLOSE_SCREEN);
  expect(left).toMatch(/listed-2 {2}.*completed(.|\n|\r)*listed-1 {2}.*cancelled/);
});

test("brg tasks --watch in a pipe prints each task when it has changed, as one line of JSON", async () => {
  await bridge.dispatch({ taskId: "piped-1", agentId: "piped", message: "wait" });
  const cli = await startCli(["tasks", "-w", "--agent", "piped", "--json=taskId,state"], { env: env() });
  await expect.poll(() => statesIn(cli.stdout())).toEqual(["piped-1 running"]);
  await cancel("piped-1");
  await expect.poll(() => statesIn(cli.stdout())).toEqual(["piped-1 running", "piped-1 cancelled"]);
  cli.signal("SIGINT");
  expect(await cli.exited).toBe(130);
});

test("brg task --watch shows one task until its end, and exits with its code", async () => {
  await bridge.dispatch({ taskId: "single-1", message: "wait" });
  const terminal = await startOnTerminal(["task", "single-1", "--watch"], { env: env() });
  const pipe = await startCli(["task", "single-1", "--watch"], { env: env() });
  await terminal.waitFor(/running/);
  await expect.poll(() => statesIn(pipe.stdout())).toEqual(["single-1 running"]);
  await cancel("single-1");
  expect([await terminal.exited, await pipe.exited]).toEqual([7, 7]);
  expect(terminal.shown().split(CLOSE_SCREEN)[1]).toContain("cancelled");
  expect(statesIn(pipe.stdout()).at(-1)).toBe("single-1 cancelled");
});

test("brg task --watch prints a task that has ended, and reports one that does not exist", async () => {
  await bridge.dispatch({ taskId: "ended-1", message: "Hello." }, { headers: { prefer: "wait=20" } });
  expect(await runCli(["task", "ended-1", "-w", "--json=state"], { env: env() })).toMatchObject({
    exitCode: 0,
    stdout: '{"state":"completed"}',
  });
  expect(await runCli(["task", "no-such-task", "-w"], { env: env() })).toMatchObject({ exitCode: 5 });
});
