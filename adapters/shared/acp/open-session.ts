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
import { convertMcpServers } from "./mcp-servers.ts";

/** The id becomes the resume token, so it must be safe to store and print. */
const sessionSchema = z.object({ sessionId: z.string().regex(/^[^\p{Cc}]{1,1024}$/u) });
/** Ignores the options if one has no id, because it could not be set. */
const optionsSchema = z.object({ configOptions: z.array(z.looseObject({ id: z.string(), category: z.string().nullish() })) });

/** Sends `initialize`. Rejects with an `AcpFailure` if the agent does not answer in time or does not support Bridge's protocol version. */
export async function initialize(agent: ClientContext, limitMs: number): Promise<InitializeResponse> {
  const answer = agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: packageJson.name, version: packageJson.version },
    // Without client capabilities, agents use their own tools in their own sandboxes.
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
  });
  const response: Partial<InitializeResponse> | null = await withTimeout(answer, limitMs, () => {
    throw new AcpFailure("adapter_error", `The agent did not answer "initialize" within ${limitMs / 1000} s.`);
  });
  const version = response?.protocolVersion;
  if (version === PROTOCOL_VERSION) return response as InitializeResponse;
  const agentVersion = typeof version === "number" ? `version ${version}` : "an unknown version";
  throw new AcpFailure(
    "adapter_error",
    `The agent uses ${agentVersion} of the Agent Client Protocol; Bridge requires version ${PROTOCOL_VERSION}. Install a version of the agent that supports it.`,
  );
}

/** Opens a new session, or resumes the one of the resume token, and sets its mode and options. Returns its id. */
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
    mcpServers: convertMcpServers(
      profile.readsMcpServers === true ? [] : (request.mcpServers ?? []),
      agentCapabilities?.mcpCapabilities,
      offeredTools,
    ),
  };
  const { sessionId, options } =
    request.resumeToken === undefined
      ? await createSession(agent, fields, profile)
      : await resumeSession(agent, { ...fields, sessionId: request.resumeToken }, agentCapabilities, profile);
  const modeId = profile.mode?.(request);
  if (modeId !== undefined) await agent.request(methods.agent.session.setMode, { sessionId, modeId });
  for (const [configId, value] of Object.entries(profile.configOptions?.(request, options) ?? {}))
    await agent.request(methods.agent.session.setConfigOption, { sessionId, configId, value });
  return sessionId;
}

/**
 * Lists the methods by which an agent can resume a session, the preferred one first. Loading replays the whole session, and
 * some agents damage the session when they load it.
 */
export function listResumeMethods(
  capabilities: AgentCapabilities | undefined,
  { loadsSessions = false }: Pick<AcpProfile, "loadsSessions">,
): ("resume" | "load")[] {
  const canResume = (capabilities?.sessionCapabilities?.resume ?? null) !== null;
  const canLoad = loadsSessions && capabilities?.loadSession === true;
  return [...(canResume ? (["resume"] as const) : []), ...(canLoad ? (["load"] as const) : [])];
}

interface OpenSession {
  sessionId: string;
  options: readonly SessionConfigOption[];
}

async function createSession(agent: ClientContext, fields: NewSessionRequest, { sessionTitle: title }: AcpProfile): Promise<OpenSession> {
  const answer = await agent.request(methods.agent.session.new, fields);
  const session = sessionSchema.safeParse(answer);
  if (!session.success) throw new AcpFailure("adapter_error", "The agent opened a session without a valid id.");
  const { sessionId } = session.data;
  // Agents without this method choose a title themselves.
  if (title !== undefined) await agent.request("session/set_title", { sessionId, title }).catch(() => {});
  return { sessionId, options: readOptions(answer) };
}

async function resumeSession(
  agent: ClientContext,
  fields: ResumeSessionRequest & LoadSessionRequest,
  capabilities: AgentCapabilities | undefined,
  profile: AcpProfile,
): Promise<OpenSession> {
  const [method, otherMethod] = listResumeMethods(capabilities, profile);
  if (method === undefined)
    throw new AcpFailure("adapter_error", "This version of the agent cannot resume sessions over ACP. Omit `resumeToken`.");
  const { resume, load } = methods.agent.session;
  const send = (method: "resume" | "load"): Promise<unknown> =>
    method === "resume" ? agent.request(resume, fields) : agent.request(load, fields);
  const answer = await send(method).catch((error: unknown) => {
    // Some agents advertise a method that they do not implement.
    if (otherMethod !== undefined && error instanceof RequestError && error.code === METHOD_NOT_FOUND) return send(otherMethod);
    throw error;
  });
  return { sessionId: fields.sessionId, options: readOptions(answer) };
}

/** JSON-RPC error code. */
const METHOD_NOT_FOUND = -32601;

const readOptions = (answer: unknown): SessionConfigOption[] =>
  (optionsSchema.safeParse(answer).data?.configOptions ?? []) as SessionConfigOption[];
