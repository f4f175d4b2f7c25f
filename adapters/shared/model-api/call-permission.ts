import { rejectOnAbort } from "@hak2i/async-kit";
import type { ProgramTask } from "../agent-program/agent-program.ts";
import { ModelFailure } from "./model-failure.ts";

/** Creates the permission of one task to call its model. It can wait until a person has decided. */
export function createCallPermission({ request, context }: Pick<ProgramTask, "request" | "context">, signal: AbortSignal) {
  let reported = 0;
  let nextReport = Promise.withResolvers<void>();

  return {
    /** Call it when the usage of a call was reported. */
    noteReport(): void {
      reported += 1;
      nextReport.resolve();
      nextReport = Promise.withResolvers();
    },
    /** Resolves when the task may make another call after this number of calls. Throws ModelFailure if it may not. */
    async prepareStep({ stepNumber }: { stepNumber: number }): Promise<undefined> {
      // The SDK begins a call before its caller has read the end of the one before.
      while (reported < stepNumber) await rejectOnAbort(nextReport.promise, signal);
      const answer = await rejectOnAbort(context.mayCallModel(request.taskId), signal);
      if (!answer.allowed) throw new ModelFailure("budget_exceeded", answer.reason);
    },
  };
}
