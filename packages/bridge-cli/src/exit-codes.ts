/** The exit codes of `bridge`. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  forbidden: 4,
  notFound: 5,
  conflict: 6,
  canceled: 7,
  needsPerson: 8,
  waitOver: 124,
  interrupted: 130,
} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The meaning of each exit code, for the help. */
export const exitCodeMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  done: "done",
  failed: "the task failed, or another error occurred",
  usage: "wrong arguments, or an invalid request",
  unreachable: "Bridge cannot be reached or is overloaded; it is safe to repeat the command",
  forbidden: "no token, a wrong token, or a token without the required scope",
  notFound: "not found",
  conflict: "conflict with the current state",
  canceled: "the task was canceled",
  needsPerson: "a person must act: sign the runtime in",
  waitOver: "the wait is over, and the task continues",
  interrupted: "interrupted by Ctrl-C",
};
