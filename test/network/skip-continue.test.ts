import { once } from "node:events";
import { Agent } from "undici";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { skipContinueResponses } from "../../src/network/skip-continue.ts";
import { startTcpServer } from "../support/start-receiver.ts";

beforeEach(() => {
  onTestFinished(skipContinueResponses());
});

/** A server that writes these packets after each request, one after the other. */
async function startServer(packets: readonly string[]) {
  const server = await startTcpServer((socket) => {
    socket.setNoDelay(true);
    socket.on("data", async () => {
      for (const packet of packets) {
        socket.write(packet);
        // Sends each packet alone.
        if (socket.writableNeedDrain) await once(socket, "drain");
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
  });
  const agent = new Agent({ connections: 1 });
  onTestFinished(async () => {
    await agent.destroy();
    await server.close();
  });
  const post = async () => {
    const { statusCode, body } = await agent.request({
      origin: `http://127.0.0.1:${server.port}`,
      path: "/",
      method: "POST",
      body: "{}",
    });
    return [statusCode, await body.text()];
  };
  return { post };
}

const proceed = "HTTP/1.1 100 Continue\r\n\r\n";
const hints = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n";
const answerOf = (text: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`;

test.each<[what: string, packets: string[]]>([
  ["in the packet of the answer", [`${proceed}${answerOf("yes")}`]],
  ["in a separate packet", [proceed, answerOf("yes")]],
  ["among other informational responses", [`${hints}${proceed}${hints}`, `${proceed}${answerOf("yes")}`]],
  ["with headers", [`HTTP/1.1 100 Continue\r\nx-a: 1\r\n\r\n${answerOf("yes")}`]],
])("a POST is answered by a server that sends 100 Continue unasked %s, also on a connection that was used before", async (_, packets) => {
  const { post } = await startServer(packets);
  for (let count = 0; count < 3; count += 1) expect(await post()).toEqual([200, "yes"]);
});

test("content that looks like a status line is not changed", async () => {
  const { post } = await startServer([answerOf(proceed), ""]);
  for (let count = 0; count < 2; count += 1) expect(await post()).toEqual([200, proceed]);
});
