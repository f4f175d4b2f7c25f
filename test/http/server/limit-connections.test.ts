import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { findConnectionLimits } from "../../../src/http/server/limit-connections.ts";
import { until } from "../../support/until.ts";
import { createBareServer } from "../bare-server.ts";

async function startServer(limits: { served: number; accepted: number }) {
  const app = await createBareServer({ connectionLimits: limits });
  app.get("/open", { config: { public: true } }, async () => ({ ok: true }));
  app.get("/closed", { config: { scope: "any" } }, async () => ({ ok: true }));
  const { port } = new URL(await app.listen({ host: "127.0.0.1", port: 0 }));
  onTestFinished(() => app.close());
  const sockets: Socket[] = [];
  const open = async (): Promise<Socket> => {
    const socket = connect(Number(port), "127.0.0.1").on("error", () => {});
    sockets.push(socket);
    await once(socket, "connect");
    return socket;
  };
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return open;
}

async function ask(socket: Socket, path: string): Promise<string> {
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk;
  });
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  await Promise.race([once(socket, "close"), until(() => answer.includes("\r\n\r\n"), 10_000)]);
  return answer;
}

test("connections above the limit get 503 and are closed, health checks succeed, and a closed connection makes room for another", async () => {
  const open = await startServer({ served: 2, accepted: 4 });
  const served = [await open(), await open()];
  for (const socket of served) expect(await ask(socket, "/closed")).toMatch(/^HTTP\/1\.1 401/);
  const refused = await open();
  const answer = await ask(refused, "/closed");
  expect(answer).toMatch(/^HTTP\/1\.1 503 .*connection: close.*the maximum of 2 open connections.*"code":"overloaded"/is);
  const health = await open();
  expect(await ask(health, "/open")).toMatch(/^HTTP\/1\.1 200 .*connection: close/is);

  for (const socket of [...served, refused, health]) socket.destroy();
  await expect.poll(async () => await ask(await open(), "/closed")).toMatch(/^HTTP\/1\.1 401/);
});

test("the limits leave file descriptors for tasks", () => {
  const limits = findConnectionLimits();
  if (process.platform !== "linux") expect(limits).toBeNull();
  else {
    expect(limits?.served).toBeGreaterThan(0);
    expect(limits?.accepted).toBeGreaterThan(limits?.served ?? 0);
  }
});
