import type { ShellCommand } from "./commands.ts";

/** How a runtime restricts shell commands, as documented. */
export type Hold =
  /** It requests an approval for every command, and rejects every command over a connection without approvals. */
  | "asks"
  | "refuses"
  /** It requests an approval for every command that it does not know to be read-only. */
  | "asks about changes"
  /** Commands run in a sandbox that permits writes only in the workspace. It requests no approvals. */
  | "sandbox"
  /** It requests an approval for commands that it can parse, and rejects the others. */
  | "asks or refuses"
  /** A runtime that Bridge does not know: it runs commands that it considers harmless, and requests an approval for the others. */
  | "own judgment";

/** The rights of one task. */
export interface Rights {
  profile: "inspect" | "modify";
  approvals: "ask" | "deny" | "allow";
}

/** The allowed observations of one command: whether an approval is requested, and whether it runs. An absent field allows both. */
interface Expectation {
  asked?: boolean;
  ran?: boolean;
}

/** Whether Bridge accepts a dispatch with these rights. Otherwise it responds with 422. */
export const isAccepted = (hold: Hold, { approvals }: Rights): boolean => approvals !== "ask" || (hold !== "refuses" && hold !== "sandbox");

/** The documented behavior of a command; `approved` is the decision on its approval. */
export function expectationOf(
  hold: Hold,
  { profile, approvals }: Rights,
  { changes, reach, isFileTool }: Pick<ShellCommand, "changes" | "reach" | "isFileTool">,
  { asked, approved }: { asked: boolean; approved: boolean },
): Expectation {
  if (isFileTool === true && hold !== "own judgment") return { asked: false, ran: profile === "modify" };
  if (hold === "sandbox") return { asked: false, ran: !changes || (profile === "modify" && reach === "workspace") };
  const isFree = hold === "own judgment" && !changes;
  if (profile === "inspect") return { asked: false, ...(isFree ? {} : { ran: false }) };
  if (approvals === "allow") return { asked: false, ran: true };
  if (approvals === "deny") return { asked: false, ...(isFree ? {} : { ran: false }) };
  if (asked) return { ran: approved };
  if (isFree || (hold === "asks about changes" && !changes)) return {};
  return hold === "asks or refuses" ? { ran: false } : { asked: true };
}
