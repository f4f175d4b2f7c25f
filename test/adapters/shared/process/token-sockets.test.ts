import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { acceptTokenSockets } from "../../../../adapters/shared/process/token-sockets.ts";

const TOKEN = "0123456789";

function accept() {
  const sockets: [string, Socket][] = [];
  const { address, close } = acceptTokenSockets(TOKEN.length, {
    onSocket: (token, socket) => sockets.push([token, socket]),
    onError(error) {
      throw error;
    },
  });
  const open = async (): Promise<Socket> => {
    const socket = connect(address).on("error", () => {});
    await once(socket, "connect");
    onTestFinished(() => void socket.destroy());
    return socket;
  };
  onTestFinished(() => {
    close();
    for (const [, socket] of sockets) socket.destroy();
  });
  return { sockets, open };
}

test("the first bytes of a socket are its token, also if they arrive in parts, and all others are data", async () => {
  const { sockets, open } = accept();
  const [split, whole] = [await open(), await open()];
  split.write(TOKEN.slice(0, 3));
  whole.end(`${TOKEN}first output`);
  await expect.poll(() => sockets.map(([token]) => token)).toEqual([TOKEN]);
  const chunks = await sockets[0]?.[1].toArray();
  expect(Buffer.concat(chunks ?? []).toString()).toBe("first output");

  split.write(TOKEN.slice(3));
  await expect.poll(() => sockets.length).toBe(2);
});

test("idle connections of other processes do not block a socket with a token", async () => {
  const { sockets, open } = accept();
  const idle: Socket[] = [];
  for (let count = 0; count < 300; count += 1) idle.push((await open()).resume());
  (await open()).write(TOKEN);
  await expect.poll(() => sockets.map(([token]) => token)).toEqual([TOKEN]);
  // At most 256 have no token.
  await expect.poll(() => idle.filter((socket) => socket.closed).length).toBe(301 - 256);
});
