import { createInterface } from "node:readline";
import { type Approval, type BridgeClient, BridgeClientError, type BudgetQuestion } from "bridge-client";
import { describeQuestion } from "./describe-question.ts";
import type { Output } from "./output.ts";
import { toOneLine } from "./show-hidden.ts";
import { paint } from "./text.ts";

/** The part of an approval that a person needs for a decision. */
export type Question = Pick<Approval, "approvalId" | "taskId" | "toolName" | "input"> & Partial<Pick<Approval, "kind">>;

/** Asks a person on the terminal for decisions, one after the other. */
export interface ApprovalDesk {
  /** Asks about an approval, after those that were added before. */
  add(question: Question): void;
  /** Withdraws the question, because the approval was decided elsewhere. */
  withdraw(approvalId: string, outcome: string): void;
  close(): void;
}

/** Maximum length of a shown tool input. A longer input is cut in the middle; `brg approvals --json` prints all of it. */
const MAX_INPUT_LENGTH = 2_000;
/** How much of the end of a long input is shown, because a command can end with its dangerous part. */
const SHOWN_END_LENGTH = 500;

/** Creates the desk. It reads lines from stdin, and passes decisions to Bridge. */
export function createApprovalDesk(client: BridgeClient, output: Output, stdin: NodeJS.ReadStream): ApprovalDesk {
  const waiting: Question[] = [];
  // Ids whose decision was sent from here; the event of the decision is not reported again.
  const decidedHere = new Set<string>();
  // Without `terminal`, Ctrl-C remains a signal.
  const lines = createInterface({ input: stdin, terminal: false });

  const ask = (): void => {
    const [question] = waiting;
    if (question === undefined) {
      output.status.resume();
      return;
    }
    output.status.suspend();
    const { approvalId, taskId, toolName } = question;
    const text = toOneLine(describeQuestion(question));
    output.warn(paint("yellow", `Approval ${approvalId} of task ${toOneLine(taskId)}`));
    output.warn(`  ${toOneLine(toolName)} ${cutMiddle(text)}`);
    const amount = takesAmount(question) ? ", y and by how many US dollars the maximum grows," : ",";
    output.warn(`Approve it? Enter y${amount} or n and a reason:`);
  };

  const next = (): void => {
    waiting.shift();
    ask();
  };

  async function decide(question: Question, decision: "approve" | "reject", text: string): Promise<void> {
    decidedHere.add(question.approvalId);
    const isAmount = decision === "approve" && takesAmount(question) && AMOUNT.test(text);
    const reason = isAmount || text === "" ? undefined : text;
    try {
      await client.approvals.decide(question.approvalId, decision, reason, isAmount ? { raiseByUsd: Number(text) } : {});
      output.note(decision === "approve" ? "Approved." : "Rejected.");
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      const isRightMissing = error instanceof BridgeClientError && error.status === 403;
      output.warn(`The decision was not stored: ${detail}${isRightMissing ? " Another token can decide it." : ""}`);
      // For example, the amount is too large.
      if (error instanceof BridgeClientError && error.status === 400) {
        decidedHere.delete(question.approvalId);
        return ask();
      }
    }
    next();
  }

  // While a decision is sent, further lines are for the next question, so they are ignored.
  let isBusy = false;
  /** Whether the shown question was withdrawn after the last line. A person may have begun to answer it. */
  let wasWithdrawn = false;
  lines.on("line", (line) => {
    const [question] = waiting;
    const isForWithdrawn = wasWithdrawn;
    wasWithdrawn = false;
    if (question === undefined || isBusy) return;
    if (isForWithdrawn) return output.warn("This answer was not sent, because the question has changed. Enter y, or n and a reason:");
    const answer = /^\s*(y|yes|n|no)\b[\s:,]*(.*)$/i.exec(line);
    if (answer === null) return output.warn("Enter y to approve, or n and a reason to reject:");
    const [, word = "", reason = ""] = answer;
    if (takesAmount(question) && /^y/i.test(word) && /^[$\d.,]/.test(reason) && !AMOUNT.test(reason.trim()))
      return output.warn("Enter the amount as a number of US dollars, such as y 2.5:");
    isBusy = true;
    void decide(question, /^y/i.test(word) ? "approve" : "reject", reason.trim()).finally(() => {
      isBusy = false;
    });
  });

  return {
    add(question) {
      waiting.push(question);
      if (waiting.length === 1) ask();
    },
    withdraw(approvalId, outcome) {
      if (decidedHere.has(approvalId)) return;
      const index = waiting.findIndex((question) => question.approvalId === approvalId);
      if (index < 0) return;
      output.note(`Approval ${approvalId}: ${toOneLine(outcome)}.`);
      if (index > 0) {
        waiting.splice(index, 1);
        return;
      }
      wasWithdrawn = true;
      next();
    },
    close: () => lines.close(),
  };
}

/** Whether an approval raises a maximum of US dollars. */
const takesAmount = ({ kind, input }: Question): boolean => kind === "budget" && (input as Partial<BudgetQuestion>)?.maxCostUsd != null;

/** US dollars. */
const AMOUNT = /^\d+(\.\d+)?$/;

function cutMiddle(text: string): string {
  const omitted = text.length - MAX_INPUT_LENGTH;
  if (omitted <= 0) return text;
  return `${text.slice(0, MAX_INPUT_LENGTH - SHOWN_END_LENGTH)} … (${omitted} characters are not shown) … ${text.slice(-SHOWN_END_LENGTH)}`;
}
