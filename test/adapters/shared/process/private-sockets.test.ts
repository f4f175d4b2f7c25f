import { once } from "node:events";
import { closeSync, mkdirSync, readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { acceptPrivateSockets } from "../../../../adapters/shared/process/private-sockets.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";

const TOKEN = "0123456789";

async function accept(name = "tmp") {
  const directory = path.join(await temporaryDirectory(), name);
  mkdirSync(directory);
  const sockets: [string, Socket][] = [];
  const { address, close } = acceptPrivateSockets(directory, TOKEN.length, {
    onSocket: (token, socket) => sockets.push([token, socket]),
    onError(error) {
      throw error;
    },
  });
  const { descriptor } = address as { descriptor: number };
  onTestFinished(() => closeSync(descriptor));
  const open = async (): Promise<Socket> => {
    const socket = connect(`/proc/self/fd/${descriptor}`).on("error", () => {});
    await once(socket, "connect");
    onTestFinished(() => void socket.destroy());
    return socket;
  };
  onTestFinished(() => {
    close();
    for (const [, socket] of sockets) socket.destroy();
  });
  return { directory, sockets, open };
}

test("the first bytes of a socket are its token, also if they arrive in parts, and all others are data", async () => {
  const { sockets, open } = await accept();
  const [split, whole] = [await open(), await open()];
  split.write(TOKEN.slice(0, 3));
  whole.end(`${TOKEN}first output`);
  await expect.poll(() => sockets.map(([token]) => token)).toEqual([TOKEN]);
  const chunks = await sockets[0]?.[1].toArray();
  expect(Buffer.concat(chunks ?? []).toString()).toBe("first output");

  split.write(TOKEN.slice(3));
  await expect.poll(() => sockets.length).toBe(2);
});

test("the address has no name in the directory, and the socket can still be opened", async () => {
  const { directory, sockets, open } = await accept();
  expect(readdirSync(directory)).toEqual([]);
  (await open()).write(TOKEN);
  await expect.poll(() => sockets.length).toBe(1);
});

test("the path of the directory may be longer than an address", async () => {
  const { sockets, open } = await accept("x".repeat(200));
  (await open()).write(TOKEN);
  await expect.poll(() => sockets.length).toBe(1);
});
