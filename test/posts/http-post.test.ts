import { Readable } from "node:stream";
import { Agent } from "undici";
import { expect, onTestFinished, test } from "vitest";
import { startHttpPost } from "../../src/posts/http-post.ts";

test("a POST whose signal is already aborted fails at once, without a connection, and destroys its body", async () => {
  let connections = 0;
  const dispatcher = new Agent({
    connect() {
      connections += 1;
    },
  });
  onTestFinished(() => dispatcher.destroy());
  const body = Readable.from(["{}"]);
  const signal = AbortSignal.abort(new Error("stopped"));
  const post = startHttpPost(dispatcher, { url: new URL("http://127.0.0.1:9/"), headers: {}, body, signal, responseLimitBytes: 10 });
  await expect(post.response).rejects.toThrow("stopped");
  await post.ended;
  expect([connections, body.destroyed]).toEqual([0, true]);
});
