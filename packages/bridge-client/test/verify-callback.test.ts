import { parseExactJson, verifyCallback, verifyWebhook } from "bridge-client";
import { Webhook } from "standardwebhooks";
import { Headers as OtherHeaders } from "undici";
import { expect, test } from "vitest";
import { readSigningKeys, signCallback } from "../../../src/posts/sign.ts";

const secrets = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_bmV3LXNlY3JldC1vZi0yNC1ieXRlcy1vci1tb3Jl"] as const;
const body = JSON.stringify({ taskId: "report-7", status: "ok", output: "Fünf Dateien" });

test.each(secrets)("verifyCallback accepts a signature by %s", async (secret) => {
  expect(await verifyCallback(sign({ secret }), body, secrets)).toEqual(JSON.parse(body));
});

test("verifyCallback accepts bytes and the headers of Node's http", async () => {
  const headers: Record<string, string> = Object.fromEntries(sign({}));
  expect(await verifyCallback({ ...headers, "set-cookie": ["a", "b"] }, Buffer.from(body), secrets)).toEqual(JSON.parse(body));
  const capitals = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
  expect(await verifyCallback(capitals, body, secrets)).toEqual(JSON.parse(body));
});

test("verifyCallback accepts the Headers of another library", async () => {
  expect(await verifyCallback(new OtherHeaders([...sign({})]), body, secrets)).toEqual(JSON.parse(body));
});

test("verifyCallback accepts one valid signature among several", async () => {
  const headers = sign({});
  headers.set("webhook-signature", `v1,AAAA v2,BBBB ${headers.get("webhook-signature")}`);
  expect(await verifyCallback(headers, body, secrets)).not.toBeNull();
});

test("verifyCallback and verifyWebhook keep the digits of numbers with an exact parser", async () => {
  const exact = '{"taskId":"report-7","outputs":{"order":653247040368672769}}';
  const headers = sign({ signed: exact });
  for (const verify of [verifyCallback, verifyWebhook])
    expect(JSON.stringify(await verify(headers, exact, secrets, { parseJson: parseExactJson }))).toBe(exact);
});

test("verifyCallback accepts the signature of Bridge", async () => {
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const signature = signCallback({ id: "msg_1", timestampSeconds, body: Buffer.from(body) }, readSigningKeys(secrets));
  expect(await verifyCallback(sign({ signature, timestamp: String(timestampSeconds) }), body, [secrets[1]])).toEqual(JSON.parse(body));
});

test.each([
  ["another secret", sign({ secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}` }), body],
  ["a changed body", sign({}), body.replace("ok", "error")],
  ["a replay after six minutes", sign({ ageSeconds: 360 }), body],
  ["a clock six minutes ahead", sign({ ageSeconds: -360 }), body],
  ["no headers", new Headers(), body],
  ["a signature that is no base64", sign({ signature: "v1,*** " }), body],
  ["an empty signature", sign({ signature: "v1, v1" }), body],
  ["a timestamp that is no number", sign({ timestamp: "today" }), body],
])("verifyCallback rejects %s", async (_, headers, received) => {
  expect(await verifyCallback(headers, received, secrets)).toBeNull();
});

test.each([[[]], [[""]]])("verifyCallback rejects everything without a secret: %j", async (none) => {
  expect(await verifyCallback(sign({}), body, none)).toBeNull();
});

test.each(["secret", "whsec_", "whsec_***", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])(
  "verifyCallback throws for the invalid secret %j",
  async (secret) => {
    await expect(verifyCallback(sign({}), body, [secret])).rejects.toThrow("whsec_ followed by base64");
  },
);

function sign({ secret = secrets[0] as string, ageSeconds = 0, signature = "", timestamp = "", signed = body }): Headers {
  const time = new Date(Date.now() - ageSeconds * 1000);
  return new Headers({
    "webhook-id": "msg_1",
    "webhook-timestamp": timestamp || String(Math.floor(time.getTime() / 1000)),
    "webhook-signature": signature || new Webhook(secret).sign("msg_1", time, signed),
  });
}
