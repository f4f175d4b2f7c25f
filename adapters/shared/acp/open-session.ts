import {
  type AgentCapabilities,
  type ClientContext,
  type InitializeResponse,
  type LoadSessionRequest,
  methods,
  type NewSessionRequest,
  PROTOCOL_VERSION,
  RequestError,
  type ResumeSessionRequest,
  type SessionConfigOption,
} from "@agentclientprotocol/sdk";
import { withTimeout } from "@hak2i/async-kit";
import { z } from "zod";
import packageJson from "../../../package.json" with { type: "json" };
import type { ProgramTask } from "../agent-program/agent-program.ts";
import { probeLimitMs } from "../agent-program/probe-limit.ts";
import { AcpFailure } from "./acp-failure.ts";
import type { AcpProfile } from "./acp-profile.ts";
import { mcpServersFor } from "./mcp-servers.ts";

/** It becomes a resume token, which clients send back. */
const sessionSchema = z.object({ sessionId: z.string().regex(/^[^\p{Cc}]{1,1024}$/u) });
/** Options without an id nobody can set. */
const offeredSchema = z.object({ configOptions: z.array(z.looseObject({ id: z.string(), category: z.string().nullish() })) });

/** Agrees with an agent on the protocol; rejects in words when they have none in common. */
export async function initialize(agent: ClientContext, limitMs: number): Promise<InitializeResponse> {
  const answer = agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: packageJson.name, version: packageJson.version },
    // Nothing is offered: agents then use their own tools, in their own sandboxes.
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
  });
  const agreed: Partial<InitializeResponse> | null = await withTimeout(answer, limitMs, () => {
    throw new AcpFailure("adapter_error", `The agent did not answer "initialize" within ${limitMs / 1000} s.`);
  });
  const version = agreed?.protocolVersion;
  if (version === PROTOCOL_VERSION) return agreed as InitializeResponse;
  const spoken = typeof version === "number" ? `version ${version}` : "an unknown version";
  throw new AcpFailure(
    "adapter_error",
    `The agent speaks ${spoken} of the Agent Client Protocol, Bridge version ${PROTOCOL_VERSION}. Install a version of the agent that speaks it.`,
  );
}

/** Makes the session of a task ready for its prompt, a new one or the one of its token; resolves with its id. */
export async function openSession(
  agent: ClientContext,
  profile: AcpProfile,
  { request, context, offeredTools }: Pick<ProgramTask, "request" | "context" | "offeredTools">,
): Promise<string> {
  const { agentCapabilities } = await initialize(agent, probeLimitMs(context.settings));
  if (profile.authMethod !== undefined) await agent.request(methods.agent.authenticate, { methodId: profile.authMethod });
  const fields = {
    ...profile.sessionFields?.(request),
    cwd: request.directories.cwd,
    mcpServers: mcpServersFor(
      profile.readsMcpServers === true ? [] : (request.mcpServers ?? []),
      agentCapabilities?.mcpCapabilities,
      offeredTools,
    ),
  };
  const { sessionId, offered } =
    request.resumeToken === undefined
      ? await newSession(agent, fields, profile)
      : await resumeSession(agent, { ...fields, sessionId: request.resumeToken }, agentCapabilities, profile);
  const modeId = profile.mode?.(request);
  if (modeId !== undefined) await agent.request(methods.agent.session.setMode, { sessionId, modeId });
  for (const [configId, value] of Object.entries(profile.configOptions?.(request, offered) ?? {}))
    await agent.request(methods.agent.session.setConfigOption, { sessionId, configId, value });
  return sessionId;
}

/** How an agent can go on with a session, the best way first. To load one replays all of it, and damages it in some agents. */
export function resumeMethods(
  capabilities: AgentCapabilities | undefined,
  { loadsSessions = false }: Pick<AcpProfile, "loadsSessions">,
): ("resume" | "load")[] {
  const resumes = (capabilities?.sessionCapabilities?.resume ?? null) !== null;
  const loads = loadsSessions && capabilities?.loadSession === true;
  return [...(resumes ? (["resume"] as const) : []), ...(loads ? (["load"] as const) : [])];
}

interface OpenSession {
  sessionId: string;
  offered: readonly SessionConfigOption[];
}

async function newSession(agent: ClientContext, fields: NewSessionRequest, { sessionTitle: title }: AcpProfile): Promise<OpenSession> {
  const answer = await agent.request(methods.agent.session.new, fields);
  const session = sessionSchema.safeParse(answer);
  if (!session.success) throw new AcpFailure("adapter_error", "The agent opened a session without an id that can be used.");
  const { sessionId } = session.data;
  // A version that cannot be told a name finds one.
  if (title !== undefined) await agent.request("session/set_title", { sessionId, title }).catch(() => {});
  return { sessionId, offered: offeredBy(answer) };
}

async function resumeSession(
  agent: ClientContext,
  fields: ResumeSessionRequest & LoadSessionRequest,
  capabilities: AgentCapabilities | undefined,
  profile: AcpProfile,
): Promise<OpenSession> {
  const [way, otherWay] = resumeMethods(capabilities, profile);
  if (way === undefined)
    throw new AcpFailure("adapter_error", "This version of the agent cannot resume a session over ACP. Dispatch without a resume token.");
  const { resume, load } = methods.agent.session;
  const ask = (method: "resume" | "load"): Promise<unknown> =>
    method === "resume" ? agent.request(resume, fields) : agent.request(load, fields);
  const answer = await ask(way).catch((error: unknown) => {
    // Some agents advertise a method that they do not have.
    if (otherWay !== undefined && error instanceof RequestError && error.code === METHOD_NOT_FOUND) return ask(otherWay);
    throw error;
  });
  return { sessionId: fields.sessionId, offered: offeredBy(answer) };
}

/** A code of JSON-RPC. */
const METHOD_NOT_FOUND = -32601;

const offeredBy = (answer: unknown): SessionConfigOption[] =>
  (offeredSchema.safeParse(answer).data?.configOptions ?? []) as SessionConfigOption[];
