import type { Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { RequestPermissionRequest, RequestPermissionResponse } from "@agentclientprotocol/sdk";
import { nullIfAborted } from "@hak2i/async-kit";
import type { ConnectionResult, ProgramConnection, ProgramTask } from "../agent-program/agent-program.ts";
import { type Decision, decideApproval } from "../agent-program/decide-approval.ts";
import { reportOrphans } from "../agent-program/run-program.ts";
import { exitFailure, stopFailure } from "../process/process-failure.ts";
import { processLimits, runProcess } from "../process/run-process.ts";
import { createAcpChannel } from "./acp-channel.ts";
import type { AcpProfile } from "./acp-profile.ts";
import { answerPermission } from "./answer-permission.ts";
import { probeAgent } from "./probe-agent.ts";
import { readToolCall } from "./read-update.ts";
import { type Turn, takeTurn } from "./run-turn.ts";
import { createSessionRecorder, type SessionRecorder } from "./session-recorder.ts";
import { taskCost } from "./task-cost.ts";

/** Events in JSON cost a multiple of its text. */
const stdoutBytes = 8 * processLimits.stdoutBytes;
/** Agents tell the last of a turn, such as its cost, after its end. */
const DRAIN_MS = 250;
/** How long an agent may take to exit once its stdin is closed, which is what ends every one of them. */
const EXIT_LIMIT_MS = 1_500;
/** From SIGTERM, which some agents ignore, to SIGKILL. */
const KILL_AFTER_MS = 2_500;

/** The connection to an agent that speaks the Agent Client Protocol over its pipes: one process, one session, one turn a task. */
export function createAcpConnection(profile: AcpProfile): ProgramConnection {
  const { capabilities, emptyAnswers } = profile;
  return {
    name: "acp",
    capabilities,
    ...(emptyAnswers !== undefined && { emptyAnswers }),
    find: profile.find,
    probe: (argv, context) => probeAgent(profile, argv, context),
    unsupportedReason: (request) =>
      request.resumeToken !== undefined && !capabilities.sessionResume
        ? "it cannot go on with a session: dispatch without a resume token."
        : (profile.unsupportedReason?.(request) ?? null),
    execute: (task, argv) => execute(profile, task, argv),
  };
}

async function execute(profile: AcpProfile, task: ProgramTask, argv: readonly string[]): Promise<ConnectionResult> {
  const { request, context, timeline, signal } = task;
  const teller = createSessionRecorder(timeline, namingDeclaredTools(profile, task));
  const stop = new AbortController();
  const ended = new AbortController();
  let sessionId: string | undefined;
  let turn: Promise<Turn> = Promise.resolve({ verdict: null });

  // Updates before the prompt, and those of another session, do not belong to this task.
  const isOurs = (given: unknown): boolean => sessionId !== undefined && (given ?? sessionId) === sessionId;
  const channel = createAcpChannel({
    onUpdate(params) {
      if (isOurs(params.sessionId)) teller.take(params.update);
    },
    onExtension(method, params) {
      if (isOurs(params.sessionId)) teller.takeExtension(method, params);
    },
    onPermission: (asked) => answer(asked, task, profile, teller),
    onNoise: (line) =>
      context.logger.debug({ taskId: request.taskId, line: line.slice(0, 500) }, "the agent wrote a line that is no message"),
  });
  const launch = await profile.launch(argv, task);
  // Before its prompt an agent has nothing to finish.
  const stopEarly = (): void => {
    if (sessionId === undefined) stop.abort();
  };
  signal.addEventListener("abort", stopEarly, { once: true });
  if (signal.aborted) stopEarly();

  const end = await runProcess({
    ...launch,
    cwd: request.directories.cwd,
    taskId: request.taskId,
    tmp: request.directories.tmp,
    home: request.directories.home,
    workspace: request.directories.workspace,
    sandbox: context.sandbox,
    input(stdin) {
      turn = takeTurn(task, profile, channel.open(stdin), teller, (id) => {
        sessionId = id;
      });
      takeLeave(turn, stdin, profile.exitLimitMs ?? EXIT_LIMIT_MS, stop, ended.signal).catch(() => {});
    },
    onLine(line) {
      task.offeredTools?.noteOutput();
      channel.onLine(line);
    },
    signal: stop.signal,
    limits: { stdoutBytes, killAfterMs: KILL_AFTER_MS },
  });
  ended.abort();
  channel.close();
  teller.end();
  reportOrphans(task, end);

  const { verdict, session } = await turn;
  // What a turn without an end has cost nobody has told, and the next task of its session is not to be charged with it.
  if (session === undefined && sessionId !== undefined && profile.costCounts !== undefined) await taskCost(task, sessionId, undefined);
  // The calls of declared tools would be lost with the session.
  const isLeft = session === undefined && signal.aborted && task.offeredTools !== undefined && profile.capabilities.sessionResume;
  return {
    ...(isLeft && sessionId !== undefined && { resumeToken: sessionId }),
    ...(session === undefined ? {} : await tellSession(session, task, profile, teller)),
    ...(stopFailure(end, { ...processLimits, stdoutBytes }) ?? verdict ?? exitFailure({ ...end, aborted: signal.aborted })),
  };
}

/** Kinds of calls whose title the agent chooses. The title of any other call can be a command or a description, which the model writes. */
const kindsWithOwnTitle: ReadonlySet<string> = new Set(["", "other", "read", "search"]);

/**
 * Names the calls of declared tools. Agents put the name of an MCP tool in different fields. A declared tool is called without approval, so a field that
 * the model can write never makes a call one of them.
 */
function namingDeclaredTools(profile: AcpProfile, { offeredTools }: ProgramTask): Pick<AcpProfile, "readNotice" | "toolName"> {
  if (offeredTools === undefined) return profile;
  const isDeclared = (name: string | null | undefined): name is string => typeof name === "string" && offeredTools.includes(name);
  const toolName: AcpProfile["toolName"] = (call) => {
    const hasOwnTitle = kindsWithOwnTitle.has(call.kind ?? "");
    const known = profile.toolName?.(hasOwnTitle ? call : { ...call, title: undefined });
    const declared = [known, call.name, hasOwnTitle && known === undefined ? call.title : undefined].find(isDeclared);
    if (declared !== undefined) return declared;
    const own = profile.toolName?.(call);
    return isDeclared(own) ? undefined : own;
  };
  return { ...profile, toolName };
}

/** Ends an agent in the way that spoils nothing: it finishes, its stdin is closed, and only then it is stopped. */
async function takeLeave(
  turn: Promise<Turn>,
  stdin: Writable,
  exitLimitMs: number,
  stop: AbortController,
  ended: AbortSignal,
): Promise<void> {
  await turn.catch(() => {});
  await delay(DRAIN_MS, undefined, { signal: ended });
  stdin.end();
  await delay(exitLimitMs, undefined, { signal: ended });
  stop.abort();
}

/** Answers what the agent asks, once there is an answer; it may ask about several calls at a time. */
async function answer(
  { toolCall, options }: RequestPermissionRequest,
  task: ProgramTask,
  profile: AcpProfile,
  teller: SessionRecorder,
): Promise<RequestPermissionResponse> {
  const cancelled: RequestPermissionResponse = { outcome: { outcome: "cancelled" } };
  const call = readToolCall(toolCall);
  if (call === null) return cancelled;
  const question = teller.ask(call);
  const isReading = task.request.profile === "inspect" && profile.mayInspect?.(teller.kindOf(call.toolCallId)) === true;
  const isFree = isReading || task.offeredTools?.includes(question.toolName) === true;
  const decide = async (): Promise<Decision> => (isFree ? { allow: true } : await decideApproval(task, question));
  const decided = task.signal.aborted ? null : await nullIfAborted(decide(), task.signal);
  // Bridge says no to whoever still asks when a task is stopped, which is no word about the call.
  if (decided === null || task.signal.aborted) return cancelled;
  const { outcome, decision } = answerPermission(decided, options);
  if (!decision.allow) teller.reject(call.toolCallId, decision.reason);
  return { outcome };
}

/** What the end of a turn tells beside how it went. */
async function tellSession(
  { id, response }: NonNullable<Turn["session"]>,
  task: ProgramTask,
  profile: AcpProfile,
  { costUsd: told, toolNames }: SessionRecorder,
): Promise<Partial<ConnectionResult>> {
  const usage = profile.usageOf?.(response, toolNames, task.request);
  const model = profile.modelOf?.(response) ?? task.request.model;
  const costUsd = profile.costCounts === undefined ? undefined : await taskCost(task, id, told);
  return {
    ...(profile.capabilities.sessionResume && { resumeToken: id }),
    ...(usage !== undefined && { usage }),
    ...(model !== undefined && { model }),
    ...(costUsd !== undefined && { costUsd }),
  };
}
