import { once } from "node:events";
import { connect } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import { execa } from "execa";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";

const program = path.resolve(import.meta.dirname, "../../examples/receiver/receiver.js");
const secrets = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_bmV3LXNlY3JldC1vZi0yNC1ieXRlcy1vci1tb3Jl"] as const;
const body = JSON.stringify({ taskId: "report-7", agentId: "auditor", provider: "command", status: "ok", output: "Fünf Dateien gelesen" });

let url: string;
let lines: AsyncIterator<string>;
let stop: () => Promise<void>;

beforeAll(async () => {
  const receiver = execa(process.execPath, [program], {
    env: { CALLBACK_SECRETS: secrets.join(","), PORT: "0" },
    stdin: "ignore",
    reject: false,
  });
  lines = createInterface({ input: receiver.stdout })[Symbol.asyncIterator]();
  url = (await nextLine()).replace("receiving on ", "");
  stop = async () => {
    receiver.kill();
    await receiver;
  };
});
afterAll(() => stop());

test("the example receiver processes a signed callback once, and accepts its repetition", async () => {
  expect(await post(signed("msg_first"))).toBe(204);
  expect(await post(signed("msg_first"))).toBe(204);
  expect(await post(signed("msg_second", { text: body.replace("report-7", "report-8") }))).toBe(204);
  expect(await nextLine()).toBe("report-7: Fünf Dateien gelesen");
  expect(await nextLine()).toBe("report-8: Fünf Dateien gelesen");
});

test("the example receiver accepts both secrets of a rotation, and several signatures in one header", async () => {
  const byOld = signed("msg_rotation", { secret: secrets[0] });
  const byNew = signed("msg_rotation", { secret: secrets[1] });
  const byUnknown = signed("msg_rotation", { secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}` });
  expect(await post(byNew)).toBe(204);
  expect(await post({ ...byOld, headers: { ...byOld.headers, "webhook-signature": [byUnknown, byOld].map(signatureOf).join(" ") } })).toBe(
    204,
  );
  expect(await nextLine()).toMatch(/^report-7/);
});

test.each([
  ["another secret", signed("msg_bad", { secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}` })],
  ["a changed body", { ...signed("msg_bad"), body: body.replace("ok", "error") }],
  ["the same JSON in other bytes", { ...signed("msg_bad"), body: JSON.stringify(JSON.parse(body), null, 1) }],
  ["another id", { ...signed("msg_bad"), headers: { ...signed("msg_bad").headers, "webhook-id": "msg_other" } }],
  ["a replay after six minutes", signed("msg_bad", { ageSeconds: 360 })],
  ["a clock six minutes ahead", signed("msg_bad", { ageSeconds: -360 })],
  ["no headers", { headers: {}, body }],
  ["an empty signature", { ...signed("msg_bad"), headers: { ...signed("msg_bad").headers, "webhook-signature": "" } }],
])("the example receiver rejects %s", async (_, callback) => {
  expect(await post(callback)).toBe(401);
});

test("the example receiver continues after a sender disconnects during a request", async () => {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  await once(socket, "connect");
  socket.end("POST / HTTP/1.1\r\nHost: receiver\r\nContent-Length: 1000\r\n\r\nhalf");
  socket.on("error", () => socket.destroy());
  socket.resume();
  await once(socket, "close");
  expect(await post(signed("msg_after"))).toBe(204);
});

interface Callback {
  headers: Record<string, string>;
  body: string;
}

function signed(id: string, { secret = secrets[0] as string, ageSeconds = 0, text = body } = {}): Callback {
  const time = new Date(Date.now() - ageSeconds * 1000);
  return {
    headers: {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(time.getTime() / 1000)),
      "webhook-signature": new Webhook(secret).sign(id, time, text),
    },
    body: text,
  };
}

const signatureOf = ({ headers }: Callback): string => headers["webhook-signature"] ?? "";

async function post({ headers, body }: Callback): Promise<number> {
  const response = await fetch(url, { method: "POST", headers, body });
  await response.arrayBuffer();
  return response.status;
}

async function nextLine(): Promise<string> {
  const { value, done } = await lines.next();
  if (done) throw new Error("the receiver has ended");
  return value;
}
