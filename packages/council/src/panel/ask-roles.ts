import type { Speaker } from "../debate/findings.ts";
import { composeRepairPrompt, type Role } from "../prompts/prompts.ts";
import { type Answer, readAnswer } from "../prompts/read-answer.ts";
import type { RoleRecord } from "../reports/report.ts";
import type { Confidence } from "../types.ts";
import type { PanelOptions, RoleResult } from "./panel-options.ts";

/** The state of a role in one council. */
export interface Seat {
  role: Pick<Role, "title" | "domain">;
  speaker: Speaker;
  session?: string;
  confidence: Confidence | null;
  /** True once a runtime has received one of its prompts. */
  isReached: boolean;
}

/** The runtime that plays a role. */
export interface Runtime {
  provider: string;
  model?: string;
  /** Whether the runtime can continue sessions. */
  resumesSessions: boolean;
}

/** The options of `createRoles`. */
export type RolesOptions = Pick<PanelOptions, "input" | "profile" | "execute" | "secondsLeft" | "spending" | "log" | "takeTurn"> & {
  /** The runtime of a role. */
  runtimeOf(seat: Seat): Runtime;
};

/** A role that did not answer. */
export interface Failure {
  errorCode: string | undefined;
  error: string | undefined;
  /** The error text for the report. */
  reason: string;
}

/** One turn of a role. */
interface Turn {
  round: number;
  /** True if no other role is asked after this turn. */
  isLastPhase: boolean;
}

/** Asks the roles of one council and records the answers. */
export interface Roles {
  /** Asks one role, and a second time if its answer cannot be parsed. Null when there is no valid answer. */
  ask(seat: Seat, prompt: string, turn: Turn): Promise<Answer | null>;
  readonly records: RoleRecord[];
  readonly failures: Failure[];
  /** Notes about parts of answers that were omitted, and about roles that were asked twice. */
  readonly notes: string[];
  /** Length of the longest prompt in each round that a runtime received, in characters. */
  readonly promptSizes: number[];
  /** Connection to the runtime; undefined until it has received a prompt. */
  readonly connection: string | undefined;
}

/** Creates the state of a role in a council. */
export const createSeat = <R extends Pick<Role, "title" | "domain">>(role: R): Seat & { role: R } => ({
  role,
  speaker: { domain: role.domain, agent: role.title },
  confidence: null,
  isReached: false,
});

/** Creates the object that asks roles. Each answer has a time limit of `callSeconds`. */
export function createRoles(options: RolesOptions, callSeconds: number): Roles {
  const { input, spending, log, takeTurn = (work) => work() } = options;
  const records: RoleRecord[] = [];
  const failures: Failure[] = [];
  const notes: string[] = [];
  const promptSizes: number[] = [];
  let connection: string | undefined;

  async function ask(seat: Seat, prompt: string, turn: Turn): Promise<Answer | null> {
    const { round } = turn;
    const { title: role, domain } = seat.role;
    const recordLoss = (reason: string): null => {
      records.push({ round, role, domain, answered: false, reason, summary: null });
      log({ event: "role_lost", round, role, domain, reason });
      return null;
    };
    const recordUnreadable = (reason: string): null => {
      failures.push({ errorCode: "output_invalid", error: undefined, reason: `output_invalid: ${reason}` });
      return recordLoss(reason);
    };
    const first = await sendPrompt(seat, prompt, turn);
    if ("refused" in first) return recordLoss(first.refused);
    if (first.result.status === "error") {
      const { errorCode, error } = first.result;
      const reason = reasonOf(first.result, first.timeoutSeconds);
      failures.push({ errorCode, error, reason });
      return recordLoss(reason);
    }
    let answer = readAnswer(first.result.output ?? "", input.taskType);
    if (answer === null) {
      // A session contains the question and the answer. Without one, the runtime has seen neither of them.
      const forgotten = seat.session === undefined ? { question: prompt, answer: first.result.output ?? "" } : null;
      const repaired = await sendPrompt(seat, composeRepairPrompt(forgotten), turn);
      if ("refused" in repaired) return recordUnreadable(`unreadable answer; ${repaired.refused}`);
      answer = repaired.result.status === "ok" ? readAnswer(repaired.result.output ?? "", input.taskType) : null;
      if (answer === null) return recordUnreadable("unreadable answer, twice");
      // An empty object in place of a text is a lost answer, not the answer that there is nothing to report.
      if (isEmpty(answer)) return recordUnreadable("unreadable answer, then an empty one");
      notes.push(`${role}, round ${round}: was asked twice, because its first answer contained no readable JSON object.`);
    }
    notes.push(...answer.notes.map((note) => `${role}, round ${round}: ${note}`));
    seat.confidence = answer.confidence ?? seat.confidence;
    records.push({ round, role, domain, answered: true, reason: null, summary: answer.summary });
    for (const signal of answer.signals) log({ event: "signal", from: role, domain: signal.domain, reason: signal.reason, round });
    return answer;
  }

  const sendPrompt = (
    seat: Seat,
    message: string,
    { round, isLastPhase }: Turn,
  ): Promise<{ result: RoleResult; timeoutSeconds: number } | { refused: string }> =>
    takeTurn(async () => {
      // A role that does not answer must leave time for the roles asked after it.
      const share = isLastPhase ? 1 : 0.5;
      const timeoutSeconds = Math.floor(Math.min(callSeconds, options.secondsLeft() * share));
      if (timeoutSeconds < 1) return { refused: "timeout: no time left" };
      if (!spending.take()) return { refused: "budget_exceeded: no further run is allowed" };
      const { resumesSessions, ...runtime } = options.runtimeOf(seat);
      const result = await options.execute({
        ...runtime,
        message,
        timeoutSeconds,
        ...(seat.session === undefined ? {} : { resumeToken: seat.session }),
        profile: options.profile,
        role: seat.role.title,
        domain: seat.role.domain,
        round,
      });
      spending.add(result);
      if (result.status === "ok" || !isUnreached(result)) {
        seat.isReached = true;
        connection ??= result.connection;
        promptSizes[round - 1] = Math.max(promptSizes[round - 1] ?? 0, message.length);
      }
      if (resumesSessions && result.resumeToken !== undefined) seat.session = result.resumeToken;
      return { result, timeoutSeconds };
    });

  return {
    ask,
    records,
    failures,
    notes,
    promptSizes,
    get connection() {
      return connection;
    },
  };
}

const isEmpty = ({ outputs, challenges, signals }: Answer): boolean => outputs.length + challenges.length + signals.length === 0;

/** Returns whether the prompt never reached the runtime, because it is offline or did not start. */
const isUnreached = ({ errorCode }: RoleResult): boolean => errorCode === "adapter_offline" || errorCode === "spawn_failed";

const reasonOf = ({ errorCode, error }: RoleResult, timeoutSeconds: number): string =>
  errorCode === "timeout" ? `timeout_after_${timeoutSeconds}s` : `${errorCode ?? "error"}${error === undefined ? "" : `: ${error}`}`;
