import { verifyCallback } from "bridge-client";
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
    const callback = await verifyCallback(request.headers, body, secrets);
    if (callback === null) return new Response(null, { status: 401 });

    const { taskId, agentId, provider, status, output, error, errorCode, finishedAt } = callback;
    await context.runMutation(internal.callbacks.take, {
      ...{ taskId, agentId, provider, status, finishedAt },
      ...(output !== undefined && { output }),
      ...(error !== undefined && { error }),
      ...(errorCode !== undefined && { errorCode }),
    });
    return new Response(null, { status: 204 }); // Bridge retries after any other status or an exception.
  }),
});

export default http;
