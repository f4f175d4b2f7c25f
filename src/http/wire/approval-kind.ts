import { z } from "zod";
import { approvalKinds } from "../../task.ts";
import { extensibleEnum } from "./extensible-enum.ts";

/** What an approval decides, in the API. */
export const approvalKindSchema = extensibleEnum(z.enum(approvalKinds), {
  id: "ApprovalKind",
  description: "`tool`: a tool call. `budget`: a task that has reached the maximum of its budget, whose model calls wait.",
});
