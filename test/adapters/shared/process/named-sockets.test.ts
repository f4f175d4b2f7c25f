import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { acceptNamedSockets } from "../../../../adapters/shared/process/named-sockets.ts";

const NAME = "0123456789";

function accept() {
  const sockets: [string, Socket][] = [];
  const { address, close } = acceptNamedSockets(NAME.length, {
    onSocket: (name, socket) => sockets.push([name, socket]),
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

test("a socket has the name that was sent first, in any number of parts, and what follows it is its data", async () => {
  const { sockets, open } = accept();
  const [split, whole] = [await open(), await open()];
  split.write(NAME.slice(0, 3));
  whole.end(`${NAME}first output`);
  await expect.poll(() => sockets.map(([name]) => name)).toEqual([NAME]);
  const chunks = await sockets[0]?.[1].toArray();
  expect(Buffer.concat(chunks ?? []).toString()).toBe("first output");

  split.write(NAME.slice(3));
  await expect.poll(() => sockets.length).toBe(2);
});

test("other processes that connect and send nothing do not prevent a named socket", async () => {
  const { sockets, open } = accept();
  const idle: Socket[] = [];
  for (let count = 0; count < 300; count += 1) idle.push((await open()).resume());
  (await open()).write(NAME);
  await expect.poll(() => sockets.map(([name]) => name)).toEqual([NAME]);
  await expect.poll(() => idle.filter((socket) => socket.closed).length).toBe(45);
});
