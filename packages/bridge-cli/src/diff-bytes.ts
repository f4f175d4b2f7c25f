import type { TaskDiff } from "bridge-client";

/** Returns the exact bytes of a diff, which need not be UTF-8. */
export const diffBytes = ({ diff, diffBase64 }: Pick<TaskDiff, "diff" | "diffBase64">): Buffer =>
  typeof diffBase64 === "string" ? Buffer.from(diffBase64, "base64") : Buffer.from(diff);
