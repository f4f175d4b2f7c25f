import type { BridgeOptions, RoleResult } from "./bridge-options.ts";
import type { Speaker } from "./debate.ts";
import type { Expert } from "./find-expert.ts";
import { type Role, repairPrompt } from "./prompts.ts";
import { type Answer, readAnswer } from "./read-answer.ts";
import type { RoleRecord } from "./report.ts";
import type { Confidence } from "./words.ts";

/** A role as one council knows it. */
export interface Seat {
  role: Role;
  speaker: Speaker;
  session?: string;
  confidence: Confidence | null;
}

/** When a role is asked. */
interface Turn {
  round: number;
  /** Nobody is asked after it. */
  isLastPhase: boolean;
}

/** Asks the roles of one council, and keeps account of it. */
export interface Roles {
  /** Asks one role and, where its answer cannot be read, once more; null when there is none in the end. */
  ask(who: Seat, prompt: string, turn: Turn): Promise<Answer | null>;
  readonly records: RoleRecord[];
  readonly failures: RoleResult[];
  /** What was left out of answers, in words. */
  readonly notes: string[];
  /** Characters of the longest prompt of each round. */
  readonly promptSizes: number[];
  /** How the runtime was reached; undefined until it has answered. */
  readonly connection: string | undefined;
}

/** A role takes its seat. */
export const seat = (role: Role | Expert): Seat => ({ role, speaker: { domain: role.domain, agent: role.title }, confidence: null });

/** Puts roles to a runtime; one answer gets `callSeconds` at most. */
export function createRoles(options: BridgeOptions, callSeconds: number): Roles {
  const { input, spending, log } = options;
  const records: RoleRecord[] = [];
  const failures: RoleResult[] = [];
  const notes: string[] = [];
  const promptSizes: number[] = [];
  let connection: string | undefined;

  async function ask(who: Seat, prompt: string, turn: Turn): Promise<Answer | null> {
    const { round } = turn;
    const lost = (reason: string): null => {
      records.push({ round, role: who.role.title, domain: who.role.domain, answered: false, reason });
      log({ event: "role_lost", round, role: who.role.title, domain: who.role.domain, reason });
      return null;
    };
    promptSizes[round - 1] = Math.max(promptSizes[round - 1] ?? 0, prompt.length);
    const first = await put(who, prompt, turn);
    if ("refused" in first) return lost(first.refused);
    if (first.result.status === "error") {
      failures.push(first.result);
      return lost(reasonOf(first.result, first.timeoutSeconds));
    }
    let answer = readAnswer(first.result.output ?? "", input.taskType);
    if (answer === null) {
      const repaired = await put(who, repairPrompt(who.session === undefined ? (first.result.output ?? "") : null), turn);
      if ("refused" in repaired) return lost(`unreadable answer; ${repaired.refused}`);
      answer = repaired.result.status === "ok" ? readAnswer(repaired.result.output ?? "", input.taskType) : null;
      if (answer === null) {
        failures.push({ status: "error", errorCode: "output_invalid" });
        return lost("unreadable answer, twice");
      }
    }
    notes.push(...answer.notes.map((note) => `${who.role.title}, round ${round}: ${note}`));
    who.confidence = answer.confidence ?? who.confidence;
    records.push({ round, role: who.role.title, domain: who.role.domain, answered: true, reason: null });
    return answer;
  }

  async function put(
    who: Seat,
    message: string,
    { round, isLastPhase }: Turn,
  ): Promise<{ result: RoleResult; timeoutSeconds: number } | { refused: string }> {
    // Whoever is silent must leave time for those who come after.
    const share = isLastPhase ? 1 : 0.5;
    const timeoutSeconds = Math.floor(Math.min(callSeconds, options.secondsLeft() * share));
    if (timeoutSeconds < 1) return { refused: "no time left" };
    if (!spending.take()) return { refused: "no further run is allowed" };
    const result = await options.execute({
      provider: options.provider,
      message,
      ...(options.model === undefined ? {} : { model: options.model }),
      timeoutSeconds,
      ...(who.session === undefined ? {} : { resumeToken: who.session }),
      profile: options.profile,
      role: who.role.title,
      domain: who.role.domain,
      round,
    });
    spending.add(result);
    connection ??= result.connection;
    if (options.remembers && result.resumeToken !== undefined) who.session = result.resumeToken;
    return { result, timeoutSeconds };
  }

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

const reasonOf = ({ errorCode, error }: RoleResult, timeoutSeconds: number): string =>
  errorCode === "timeout" ? `timeout_after_${timeoutSeconds}s` : `${errorCode ?? "error"}${error === undefined ? "" : `: ${error}`}`;
