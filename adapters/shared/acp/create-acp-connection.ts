import type { Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { RequestPermissionRequest, RequestPermissionResponse } from "@agentclientprotocol/sdk";
import { nullIfAborted } from "@hak2i/async-kit";
import type { ConnectionResult, ProgramConnection, ProgramTask } from "../agent-program/agent-program.ts";
import { type ApprovalDecision, decideApproval } from "../agent-program/decide-approval.ts";
import { reportOrphans } from "../agent-program/run-program.ts";
import { exitFailure, stopFailure } from "../process/process-failure.ts";
import { JSON_OUTPUT_LIMITS, runProcess } from "../process/run-process.ts";
import { createAcpChannel } from "./acp-channel.ts";
import type { AcpProfile } from "./acp-profile.ts";
import { answerPermission } from "./answer-permission.ts";
import { probeAgent } from "./probe-agent.ts";
import { readToolCall } from "./read-update.ts";
import { runTurn, type Turn } from "./run-turn.ts";
import { createSessionRecorder, type SessionRecorder } from "./session-recorder.ts";
import { calculateTaskCost } from "./task-cost.ts";

/** Agents send the last updates of a turn, such as its cost, after its end. */
const DRAIN_MS = 250;
/** How long an agent may take to exit after its stdin is closed. */
const EXIT_LIMIT_MS = 1_500;
/** Time from SIGTERM, which some agents ignore, to SIGKILL. */
const KILL_AFTER_MS = 2_500;

/** Creates a connection to an agent over the Agent Client Protocol. Each task starts one process with one session and one turn. */
export function createAcpConnection(profile: AcpProfile): ProgramConnection {
  const { capabilities, emptyAnswers, planProxy } = profile;
  return {
    name: "acp",
    capabilities,
    ...(emptyAnswers !== undefined && { emptyAnswers }),
    ...(planProxy !== undefined && { planProxy }),
    find: profile.find,
    probe: (argv, context) => probeAgent(profile, argv, context),
    unsupportedReason: (request) =>
      request.resumeToken !== undefined && !capabilities.sessionResume
        ? "this connection cannot resume sessions. Omit `resumeToken`."
        : (profile.unsupportedReason?.(request) ?? null),
    execute: (task, argv) => execute(profile, task, argv),
  };
}

async function execute(profile: AcpProfile, task: ProgramTask, argv: readonly string[]): Promise<ConnectionResult> {
  const { request, context, timeline, signal } = task;
  const recorder = createSessionRecorder(timeline, nameDeclaredTools(profile, task));
  const stop = new AbortController();
  const ended = new AbortController();
  let sessionId: string | undefined;
  let turn: Promise<Turn> = Promise.resolve({ outcome: null });

  // Updates before the prompt, and updates of another session, do not belong to this task.
  const isOurs = (id: unknown): boolean => sessionId !== undefined && (id ?? sessionId) === sessionId;
  const channel = createAcpChannel({
    onUpdate(params) {
      if (isOurs(params.sessionId)) recorder.recordUpdate(params.update);
    },
    onExtension(method, params) {
      if (isOurs(params.sessionId)) recorder.recordExtension(method, params);
    },
    onPermission: (permission) => answer(permission, task, profile, recorder),
    onNoise: (line) => context.logger.debug({ taskId: request.taskId, line: line.slice(0, 500) }, "agent output is not a protocol message"),
  });
  const launch = await profile.launch(argv, task);
  const endStart = await profile.waitForStart?.(launch, signal);
  // Before its prompt, an agent has no turn to cancel.
  const stopEarly = (): void => {
    if (sessionId === undefined) stop.abort();
  };
  signal.addEventListener("abort", stopEarly, { once: true });
  if (signal.aborted) stopEarly();

  const end = await runProcess({
    ...launch,
    cwd: request.directories.cwd,
    taskId: request.taskId,
    trace: request,
    tmp: request.directories.tmp,
    home: request.directories.home,
    workspace: request.directories.workspace,
    sandbox: context.sandbox,
    input(stdin) {
      turn = runTurn(task, profile, channel.open(stdin), recorder, (id) => {
        sessionId = id;
        endStart?.();
      });
      stopAfterTurn(turn, stdin, profile.exitLimitMs ?? EXIT_LIMIT_MS, stop, ended.signal).catch(() => {});
    },
    onLine(line) {
      task.offeredTools?.noteOutput();
      channel.onLine(line);
    },
    onLongLine(beginning) {
      task.offeredTools?.noteOutput();
      return channel.onLongLine(beginning);
    },
    signal: stop.signal,
    limits: { ...JSON_OUTPUT_LIMITS, killAfterMs: KILL_AFTER_MS },
  }).finally(() => endStart?.());
  ended.abort();
  channel.close();
  recorder.flush();
  reportOrphans(task, end);

  const { outcome, session } = await turn;
  // The cost of an interrupted turn is unknown. It is recorded as unknown, so that the session's next task does not include it.
  if (session === undefined && sessionId !== undefined && profile.costScope !== undefined)
    await calculateTaskCost(task, sessionId, undefined);
  // Without the token, the open calls of declared tools would be lost.
  const hasOpenCalls = session === undefined && signal.aborted && task.offeredTools !== undefined && profile.capabilities.sessionResume;
  return {
    ...(hasOpenCalls && sessionId !== undefined && { resumeToken: sessionId }),
    ...(session === undefined ? {} : await readSessionFacts(session, task, profile, recorder)),
    ...(stopFailure(end, JSON_OUTPUT_LIMITS) ?? outcome ?? exitFailure({ ...end, aborted: signal.aborted })),
  };
}

/** Kinds of calls whose title the agent chooses. The title of any other call can be a command or a description, which the model writes. */
const KINDS_WITH_AGENT_TITLE: ReadonlySet<string> = new Set(["", "other", "read", "search"]);

/**
 * Names the calls of declared tools. Agents put the name of an MCP tool in different fields. A declared tool is called
 * without approval, so a call is never identified as one of them by a field that the model can write.
 */
function nameDeclaredTools(profile: AcpProfile, { offeredTools }: ProgramTask): Pick<AcpProfile, "readNotice" | "toolName"> {
  if (offeredTools === undefined) return profile;
  const isDeclared = (name: string | null | undefined): name is string => typeof name === "string" && offeredTools.includes(name);
  const toolName: AcpProfile["toolName"] = (call) => {
    const hasAgentTitle = KINDS_WITH_AGENT_TITLE.has(call.kind ?? "");
    const known = profile.toolName?.(hasAgentTitle ? call : { ...call, title: undefined });
    const declared = [known, call.name, hasAgentTitle && known === undefined ? call.title : undefined].find(isDeclared);
    if (declared !== undefined) return declared;
    const own = profile.toolName?.(call);
    return isDeclared(own) ? undefined : own;
  };
  return { ...profile, toolName };
}

/** Stops an agent gracefully: waits for the end of the turn, closes its stdin, and aborts `stop` if it does not exit in time. */
async function stopAfterTurn(
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

/** Answers a permission request. An agent can have several open requests. */
async function answer(
  { toolCall, options }: RequestPermissionRequest,
  task: ProgramTask,
  profile: AcpProfile,
  recorder: SessionRecorder,
): Promise<RequestPermissionResponse> {
  const cancelled: RequestPermissionResponse = { outcome: { outcome: "cancelled" } };
  const call = readToolCall(toolCall);
  if (call === null) return cancelled;
  const question = recorder.recordQuestion(call);
  const isInspection = task.request.profile === "inspect" && profile.mayInspect?.(recorder.kindOf(call.toolCallId)) === true;
  const needsNoApproval = isInspection || task.offeredTools?.includes(question.toolName) === true;
  const decide = async (): Promise<ApprovalDecision> => (needsNoApproval ? { allow: true } : await decideApproval(task, question));
  const decided = task.signal.aborted ? null : await nullIfAborted(decide(), task.signal);
  // A rejection that only results from the end of the task is not recorded as a rejected call.
  if (decided === null || task.signal.aborted) return cancelled;
  const { outcome, decision } = answerPermission(decided, options);
  if (!decision.allow) recorder.rejectCall(call.toolCallId, decision.reason);
  return { outcome };
}

/** Reads the fields of the result from the session and its last response. */
async function readSessionFacts(
  { id, response }: NonNullable<Turn["session"]>,
  task: ProgramTask,
  profile: AcpProfile,
  { costUsd: reportedUsd, toolNames }: SessionRecorder,
): Promise<Partial<ConnectionResult>> {
  const usage = profile.usageOf?.(response, toolNames, task.request);
  const model = profile.modelOf?.(response) ?? task.request.model;
  const costUsd = profile.costScope === undefined ? undefined : await calculateTaskCost(task, id, reportedUsd);
  return {
    ...(profile.capabilities.sessionResume && { resumeToken: id }),
    ...(usage !== undefined && { usage }),
    ...(model !== undefined && { model }),
    ...(costUsd !== undefined && { costUsd }),
  };
}
