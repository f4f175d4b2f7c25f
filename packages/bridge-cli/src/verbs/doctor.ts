import type { Adapter } from "bridge-client";
import { CommandError } from "../command-error.ts";
import type { Connection } from "../connection.ts";
import { type Check, failed, ok, skipped } from "../doctor/check.ts";
import { checkAdapters } from "../doctor/check-adapters.ts";
import { checkAddress } from "../doctor/check-address.ts";
import { checkCallback } from "../doctor/check-callback.ts";
import { checkClock } from "../doctor/check-clock.ts";
import { checkDeadCallbacks } from "../doctor/check-dead-callbacks.ts";
import { checkRetries } from "../doctor/check-retries.ts";
import { checkSignatures } from "../doctor/check-signatures.ts";
import { checkStream } from "../doctor/check-stream.ts";
import { checkToken } from "../doctor/check-token.ts";
import { checkVersion } from "../doctor/check-version.ts";
import { exitCodes } from "../exit-codes.ts";
import { findAddress } from "../find-connection.ts";
import type { Output } from "../output.ts";
import { readVersion } from "../read-version.ts";
import { toOneLine } from "../show-hidden.ts";
import { paint, type Style } from "../text.ts";
import type { Invocation, Run } from "../verb.ts";

interface Options {
  provider?: string;
  callback?: string;
}

/** Checks everything between this machine and the runtimes, and suggests a fix for each fault. Fails if a check failed. */
export const run: Run<Options> = async (invocation) => {
  const { output } = invocation;
  const checks: Check[] = [];
  const add = (...found: readonly Check[]): void => {
    checks.push(...found);
    // Some checks take seconds, so each result is printed at once.
    for (const check of found) print(check, output);
  };
  await runChecks(invocation, add);
  const count = (result: Check["result"]): number => checks.filter((check) => check.result === result).length;
  const [faults, warnings] = [count("failed"), count("warning")];
  if (output.format === "json") output.printJson({ ok: faults === 0, checks });
  else output.note(`${faults === 0 ? "No faults found" : `${faults} fault(s) found`}${warnings === 0 ? "" : `, ${warnings} warning(s)`}.`);
  return faults === 0 ? undefined : exitCodes.failed;
};

async function runChecks(
  { flags, env, options, signal, connect, output }: Invocation<Options>,
  add: (...checks: Check[]) => void,
): Promise<void> {
  add(ok("node", `Node ${process.versions.node}`));
  output.status.show(() => "checking the address");
  const { checks, info, clock } = await checkAddress(findAddress(flags, env), signal);
  add(...checks);
  if (clock !== null) add(checkClock(clock));
  if (info !== null) add(checkVersion(readVersion(), info.version));
  if (info?.callbackRetries !== undefined) add(checkRetries(info.callbackRetries));

  const connection = connectIfPossible(connect, add);
  const names = ["events", "adapters", ...(options.callback === undefined ? [] : ["callback"])];
  const skipAll = (reason: string): void => add(...names.map((name) => skipped(name, reason)));
  if (connection === null) return skipAll("It needs a token.");
  if (info === null) return skipAll("It needs a Bridge.");
  const { checks: ofToken, identity } = await checkToken(connection, signal);
  add(...ofToken);
  if (identity === null) return skipAll("It needs a valid token.");
  if (identity.signsCallbacks !== undefined) add(checkSignatures(identity.signsCallbacks));
  if (!identity.scopes.includes("read")) return skipAll('It needs the scope "read".');
  add(...(await checkDeadCallbacks(connection.client, signal)));

  output.status.show(() => "checking the event stream");
  add(await checkStream(connection, signal));
  output.status.show(() => "checking the adapters");
  const { checks: ofAdapters, adapters } = await checkAdapters({ connection, scopes: identity.scopes, provider: options.provider, signal });
  add(...ofAdapters);

  const { callback } = options;
  if (callback === undefined) return;
  const adapter = adapters.find(({ health }) => health.status !== "offline");
  if (!identity.scopes.includes("dispatch")) add(skipped("callback", 'It needs the scope "dispatch".'));
  else if (adapter === undefined) add(skipped("callback", "It needs an adapter that is not offline."));
  else add(...(await testCallback(connection, { callback, adapter, signal, output })));
}

function connectIfPossible(connect: () => Connection, add: (...checks: Check[]) => void): Connection | null {
  try {
    return connect();
  } catch (error) {
    if (!(error instanceof CommandError) || error.kind !== "forbidden") throw error;
    add(failed("token", error.message, error.hint ?? "Set BRIDGE_TOKEN, or save a token with: brg profile add <name> --url <url>"));
    return null;
  }
}

function testCallback(
  { client }: Connection,
  { callback, adapter, signal, output }: { callback: string; adapter: Adapter; signal: AbortSignal; output: Output },
): Promise<Check[]> {
  output.status.show(() => "posting a test callback");
  return checkCallback({ client, callbackUrl: callback, provider: adapter.provider, signal });
}

const styles: Readonly<Record<Check["result"], Style>> = { ok: "green", warning: "yellow", failed: "red", skipped: "dim" };

function print({ check, result, detail, remedy }: Check, output: Output): void {
  if (output.format === "pipe") output.print([check, result, detail, remedy ?? ""].map(toOneLine).join("\t"));
  if (output.format !== "terminal") return;
  output.print([paint(styles[result], result.padEnd(RESULT_WIDTH)), "  ", paint("bold", check), `  ${toOneLine(detail)}`]);
  if (remedy !== null) output.print(`${" ".repeat(RESULT_WIDTH)}  To mend it: ${toOneLine(remedy)}`);
}

const RESULT_WIDTH = "skipped".length;
