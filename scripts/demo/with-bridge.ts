import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type BridgeClient, createBridgeClient } from "bridge-client";
import { type BridgeProcess, startBridge } from "./bridge-process.ts";
import { describeError } from "./describe-error.ts";
import { type Receiver, startReceiver } from "./receiver.ts";
import type { Screen } from "./screen.ts";

/** The objects that all steps of a demo share. */
export interface Stage {
  screen: Screen;
  client: BridgeClient;
  signal: AbortSignal;
}

/** What a demo runs with. */
export interface RunningBridge {
  bridge: BridgeProcess;
  receiver: Receiver;
  /** The data directory of Bridge. */
  directory: string;
  stage: Stage;
  /** Ends the time limit. */
  endDeadline(): void;
}

/** Options of `withBridge`. */
export interface BridgeScene {
  screen: Screen;
  stop: AbortSignal;
  /** The demo fails if it takes longer. */
  deadlineMs: number;
  /** Returns the settings of Bridge, and prepares what they name in its data directory. */
  settings(directory: string): Record<string, string> | Promise<Record<string, string>>;
}

/** A failure that its message explains. The log of Bridge would add nothing. */
export class ExplainedError extends Error {}

/**
 * Starts Bridge and a receiver of callbacks, and runs a demo. When it settles, its processes have exited and its files are removed. Rejects
 * when `stop` aborts before the end.
 */
export async function withBridge(
  { screen, stop, deadlineMs, settings }: BridgeScene,
  act: (running: RunningBridge) => Promise<void>,
): Promise<void> {
  await using cleanup = new AsyncDisposableStack();
  const failure = new AbortController();
  const timer = setTimeout(() => failure.abort(new Error(`The demo took longer than ${deadlineMs / 1000} s.`)), deadlineMs);
  const endDeadline = (): void => clearTimeout(timer);
  cleanup.defer(endDeadline);
  const signal = AbortSignal.any([stop, failure.signal]);

  const directory = await mkdtemp(path.join(tmpdir(), "bridge-demo-"));
  cleanup.defer(() => rm(directory, { recursive: true, force: true }));
  const secret = `whsec_${randomBytes(32).toString("base64")}`;
  const receiver = cleanup.adopt(await startReceiver({ secret, signal }), (started) => started.close());
  const bridge = cleanup.adopt(await startBridge({ directory, secret, signal, settings: await settings(directory) }), (started) =>
    started.close(),
  );
  void bridge.ended.then(() => failure.abort(new Error("Bridge exited unexpectedly.")));

  try {
    const stage = { screen, client: createBridgeClient({ url: bridge.url, token: bridge.token }), signal };
    await act({ bridge, receiver, directory, stage, endDeadline });
    if (!stop.aborted) failure.signal.throwIfAborted();
  } catch (error) {
    if (error instanceof ExplainedError) throw error;
    const reason = failure.signal.aborted ? failure.signal.reason : error;
    throw new Error(`${describeError(reason)}\n\nThe last lines of Bridge:\n${bridge.lastLines()}`);
  }
}
