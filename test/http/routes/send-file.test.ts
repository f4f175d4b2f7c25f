import { open, truncate, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import path from "node:path";
import Fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { createClientMemory } from "../../../src/access/client-memory.ts";
import { sendFile } from "../../../src/http/routes/send-file.ts";
import { limitMemory } from "../../../src/http/server/limit-memory.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { askUntil } from "../../support/until.ts";

const SIZE = 64 * 1024 ** 2;

test("a client that reads nothing is disconnected, and its file is closed", async () => {
  const file = path.join(await temporaryDirectory(), "large");
  await writeFile(file, "");
  await truncate(file, SIZE);
  const handle = await open(file);
  const app = Fastify();
  limitMemory(app, { clientMemory: createClientMemory(), bodyLimitBytes: 1024, stalledReaderMs: 50 });
  onTestFinished(() => app.close());
  app.get("/", async (request, reply) => {
    const stats = await handle.stat({ bigint: true });
    return sendFile(request, reply, { handle, stats, name: "large", isFinal: true });
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const address = app.server.address();
  const socket = connect(typeof address === "object" && address !== null ? address.port : 0, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  // The client never reads, so the buffers of the connection fill up.
  socket.pause();
  socket.write("GET / HTTP/1.1\r\nHost: bridge\r\n\r\n");
  await askUntil(
    async () => handle.fd,
    (descriptor) => descriptor === -1,
  );
  let bytes = 0;
  socket.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  socket.resume();
  await new Promise((resolve) => socket.once("close", resolve));
  expect(bytes).toBeLessThan(SIZE);
});
