import { parseExactJson, verifyCallback } from "bridge-client";
import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";

const http = httpRouter();

http.route({
  path: "/bridge/callback",
  method: "POST",
  handler: httpAction(async (context, request) => {
    const body = await request.text(); // The signature covers exactly these bytes.
    const secrets = (process.env.BRIDGE_CALLBACK_SECRETS ?? "").split(",");
    const callback = await verifyCallback(request.headers, body, secrets, { parseJson: parseExactJson });
    if (callback === null) return new Response(null, { status: 401 });

    const { taskId, agentId, provider, status, output, outputs, error, errorCode, metadata, durationMs, finishedAt } = callback;
    await context.runMutation(internal.callbacks.take, {
      result: omitUndefined({
        ...{ taskId, agentId, provider, status, output, error, errorCode, durationMs, finishedAt },
        outputs: JSON.stringify(outputs),
        metadata: JSON.stringify(metadata),
      }),
      usage: omitUndefined({
        model: callback.model,
        costUsd: callback.costUsd,
        costSource: callback.costSource,
        inputTokens: callback.usage?.inputTokens,
        outputTokens: callback.usage?.outputTokens,
        thinkingTokens: callback.usage?.thinkingTokens,
        cacheReadTokens: callback.usage?.cacheReadTokens,
        cacheWriteTokens: callback.usage?.cacheWriteTokens,
      }),
    });
    return new Response(null, { status: 204 }); // Bridge retries after any other status or an exception.
  }),
});

function omitUndefined<Fields extends object>(fields: Fields) {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as { [Name in keyof Fields]: Exclude<Fields[Name], undefined> };
}

export default http;
