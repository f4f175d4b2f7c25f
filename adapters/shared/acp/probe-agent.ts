import type { Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { InitializeResponse } from "@agentclientprotocol/sdk";
import { z } from "zod";
import type { Probe, ProgramContext } from "../agent-program/agent-program.ts";
import { probeLimitMs } from "../agent-program/probe-limit.ts";
import { probeProgram } from "../agent-program/probe-program.ts";
import { createAcpChannel } from "./acp-channel.ts";
import { AgentExited } from "./acp-failure.ts";
import type { AcpProfile } from "./acp-profile.ts";
import { initialize, listResumeMethods } from "./open-session.ts";

/** How long an agent may take to exit after its answer. */
const EXIT_LIMIT_MS = 1_500;

/** Starts an agent and reads its version and capabilities. Rejects if it does not support the protocol. Opens no session. */
export async function probeAgent(profile: AcpProfile, argv: readonly string[], context: ProgramContext): Promise<Probe> {
  const noise: string[] = [];
  const channel = createAcpChannel({
    onUpdate: () => {},
    onExtension: () => {},
    onPermission: async () => ({ outcome: { outcome: "cancelled" } }),
    onNoise: (line) => noise.push(line.slice(0, 500)),
  });
  const stop = new AbortController();
  let response: InitializeResponse | undefined;
  let initializeError: unknown;
  const limitMs = probeLimitMs(context.settings);
  const sendInitialize = async (stdin: Writable): Promise<void> => {
    try {
      response = await initialize(channel.open(stdin), limitMs);
    } catch (error) {
      initializeError = error;
    }
    stdin.end();
    await delay(profile.exitLimitMs ?? EXIT_LIMIT_MS, undefined, { ref: false });
    stop.abort();
  };
  const probe = probeProgram(context, {
    limitMs,
    ...profile.launchProbe(argv, context),
    input: (stdin) => void sendInitialize(stdin),
    onLine: channel.onLine,
    signal: stop.signal,
  });
  try {
    const { end } = await probe;
    channel.close();
    if (response === undefined && (initializeError === undefined || initializeError instanceof AgentExited))
      throw new Error(
        // The arguments are not shown, because they can contain secrets.
        `${argv[0]} does not support the Agent Client Protocol. ${`${noise.join(" ")} ${end.stderr}`.trim().slice(-500)}`,
      );
  } catch (error) {
    // An agent that responded but did not exit in time is usable.
    if (response === undefined) throw initializeError ?? error;
  }
  if (response === undefined) throw initializeError;
  profile.onAnswer?.(response);
  return describe(response, profile);
}

const label = z.string().max(200).nullish().catch(null);
const infoSchema = z.object({ title: label, name: label, version: label }).catch({});

function describe({ agentInfo, protocolVersion, agentCapabilities }: InitializeResponse, profile: AcpProfile): Probe {
  const { title, name, version } = infoSchema.parse(agentInfo);
  const agent = `${title ?? name ?? "the agent"} ${version ?? "of an unknown version"}`;
  const noResume = profile.capabilities.sessionResume && listResumeMethods(agentCapabilities, profile).length === 0;
  return {
    version: version ?? null,
    detail: `${agent}, ACP ${protocolVersion}${noResume ? "; this version cannot resume sessions over ACP" : ""}`,
  };
}
