import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runCli } from "../../../packages/bridge-cli/test/start-cli.ts";
import { startReceiver } from "../../support/start-receiver.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { expert, openCouncil, startBridge } from "./open-council.ts";

test("a council on one runtime whose answers are prose fails in the API, in its callback and for the command line", async () => {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  const dataDir = await temporaryDirectory();
  const own = await startBridge(dataDir, { BRIDGE_CALLBACK_ALLOW: "127.0.0.1" });
  const { bridge, dispatch, ended, taskId } = await openCouncil(
    { [expert]: "prose", Challenger: "prose", "Integration Checker": "prose" },
    own,
  );
  await dispatch({ intensity: "quick" }, { callbackUrl: receiver.origin });
  const failed = {
    ...{ status: "error", errorCode: "output_invalid" },
    error: "No role of the council answered. command: output_invalid: unreadable answer, twice.",
    outputs: { status: "SKIPPED", verdict: null, roles: [{ answered: false }, { answered: false }, { answered: false }] },
  };
  expect(await ended("failed")).toMatchObject(failed);
  const env = { BRIDGE_URL: bridge.url, BRIDGE_TOKEN: readFileSync(path.join(dataDir, "token"), "utf8").trim() };
  expect(await runCli(["wait", taskId], { env })).toMatchObject({ exitCode: 1 });
  await expect.poll(() => receiver.posts.length).toBe(1);
  expect(JSON.parse(String(receiver.posts[0]?.body))).toMatchObject({ taskId, ...failed });
});
