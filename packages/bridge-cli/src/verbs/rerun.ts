import { randomUUID } from "node:crypto";
import { readTaskFields } from "../build-dispatch.ts";
import { CommandError } from "../command-error.ts";
import type { Run } from "../verb.ts";
import { withTaskId } from "../with-task-id.ts";
import { type DispatchOptions, dispatchRequest } from "./dispatch.ts";

/** Dispatches the request of a task again, with another id and with the changes of the options. */
export const run: Run<DispatchOptions> = async (invocation) => {
  const { args, options, signal, connect } = invocation;
  const { client } = connect();
  const { request, masked } = await withTaskId(args[0] ?? "", { client, signal, hasEffect: true }, (taskId) =>
    client.getTaskRequest(taskId, { signal }),
  );
  const changes = readTaskFields(options);
  const hidden = masked.filter((path) => !Object.hasOwn(changes, path.split(".")[0] ?? ""));
  if (hidden.length > 0)
    throw new CommandError("usage", `Bridge does not return the secrets of this request: ${hidden.join(", ")}.`, {
      hint: "Give the field with its secrets, for example: --field mcpServers='[…]'",
    });
  const { agent = request.agentId, id = randomUUID() } = options;
  return dispatchRequest(invocation, { ...request, ...changes, agentId: agent, taskId: id });
};
