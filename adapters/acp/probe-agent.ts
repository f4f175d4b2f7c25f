import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { InitializeResponse } from "@agentclientprotocol/sdk";
import type { Probe, ProgramContext } from "../program/agent-program.ts";
import { probeProgram } from "../program/probe-program.ts";
import { createAcpChannel } from "./acp-channel.ts";
import { AgentGone } from "./acp-failure.ts";
import type { AcpProfile } from "./acp-profile.ts";
import { initialize } from "./open-session.ts";

/** Starts an agent to see that it speaks the protocol, and what of it; rejects in words when it does not. No session is opened. */
export async function probeAgent(profile: AcpProfile, argv: readonly string[], context: ProgramContext): Promise<Probe> {
  const home = path.join(context.dataDir, "probes", "home");
  await mkdir(home, { recursive: true, mode: 0o700 });
  const noise: string[] = [];
  const channel = createAcpChannel({
    onUpdate: () => {},
    onPermission: () => ({ outcome: { outcome: "cancelled" } }),
    onNoise: (line) => noise.push(line.slice(0, 500)),
  });
  let agreed: Promise<InitializeResponse> = Promise.reject(new AgentGone());
  agreed.catch(() => {});
  const exited = probeProgram(context, {
    ...profile.launchProbe(argv, context),
    home,
    input(stdin) {
      agreed = initialize(channel.open(stdin));
      agreed.catch(() => {}).then(() => stdin.end());
    },
    onLine: channel.onLine,
  }).finally(channel.close);
  try {
    const { end } = await exited;
    return describe(
      await agreed.catch((error: unknown) => {
        if (!(error instanceof AgentGone)) throw error;
        throw new Error(
          `${argv.join(" ")} does not speak the Agent Client Protocol. ${`${noise.join(" ")} ${end.stderr}`.trim().slice(-500)}`,
        );
      }),
      profile,
    );
  } catch (error) {
    // Who has answered and does not go has answered all the same.
    return describe(
      await agreed.catch(() => {
        throw error;
      }),
      profile,
    );
  }
}

function describe({ agentInfo, protocolVersion, agentCapabilities }: InitializeResponse, { capabilities }: AcpProfile): Probe {
  const name = `${agentInfo?.title ?? agentInfo?.name ?? "the agent"} ${agentInfo?.version ?? "of an unknown version"}`;
  const noResume = capabilities.sessionResume && (agentCapabilities?.sessionCapabilities?.resume ?? null) === null;
  return {
    version: agentInfo?.version ?? null,
    detail: `${name}, ACP ${protocolVersion}${noResume ? "; this version cannot resume sessions over ACP" : ""}`,
  };
}
