import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { MAX_PIPELINED } from "../../../src/http/server/limit-pipelining.ts";
import { createBareServer } from "../bare-server.ts";

const ask = "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n";
const statuses = (answer: string) => [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

/** Starts a server with a route whose response the test controls. */
async function startServer() {
  const app = await createBareServer();
  const answer = Promise.withResolvers<void>();
  let asked = 0;
  app.get("/slow", { config: { public: true } }, async () => {
    asked += 1;
    await answer.promise;
    return { ok: true };
  });
  const { port } = new URL(await app.listen({ host: "127.0.0.1", port: 0 }));
  onTestFinished(() => app.close());
  return { open: () => connect(Number(port), "127.0.0.1"), answer: answer.resolve, asked: () => asked };
}

test("pipelined requests are answered in order up to the limit; then the connection is closed", async () => {
  const server = await startServer();
  const socket = server.open();
  socket.write(ask.repeat(MAX_PIPELINED + 500));
  const other = server.open();
  other.write(ask.repeat(MAX_PIPELINED).replace(/\r\n\r\n$/, "\r\nConnection: close\r\n\r\n"));
  while (server.asked() < 2 * MAX_PIPELINED) await new Promise(setImmediate);
  server.answer();
  const answer = await text(socket);
  expect(statuses(answer)).toEqual([...Array<number>(MAX_PIPELINED).fill(200), 429]);
  for (const part of ["retry-after: 1\r\n", '"code":"too_many_requests"']) expect(answer).toContain(part);
  expect(statuses(await text(other))).toEqual(Array<number>(MAX_PIPELINED).fill(200));
});

test("answered requests do not count towards the limit", async () => {
  const server = await startServer();
  server.answer();
  const socket = server.open();
  let answer = "";
  socket.on("data", (piece) => {
    answer += piece;
  });
  for (let sent = 1; sent <= 3 * MAX_PIPELINED; sent += 1) {
    socket.write(ask);
    while (statuses(answer).length < sent) await once(socket, "data");
  }
  expect(new Set(statuses(answer))).toEqual(new Set([200]));
  socket.destroy();
});
