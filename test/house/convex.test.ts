import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { isGenuine } from "../../examples/convex/convex/signature.ts";

const secrets = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_bmV3LXNlY3JldC1vZi0yNC1ieXRlcy1vci1tb3Jl"] as const;
const body = JSON.stringify({ taskId: "report-7", status: "ok", output: "Fünf Dateien" });

test.each(secrets)("takes what %s has signed", async (secret) => {
  expect(await isGenuine(sign({ secret }), body, secrets)).toBe(true);
});

test("takes one good signature among several", async () => {
  const headers = sign({});
  headers.set("webhook-signature", `v1,AAAA v2,BBBB ${headers.get("webhook-signature")}`);
  expect(await isGenuine(headers, body, secrets)).toBe(true);
});

test.each([
  ["another secret", sign({ secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}` }), body],
  ["a changed body", sign({}), body.replace("ok", "error")],
  ["a replay after six minutes", sign({ ageSeconds: 360 }), body],
  ["a clock six minutes ahead", sign({ ageSeconds: -360 }), body],
  ["no headers", new Headers(), body],
  ["a signature that is no base64", sign({ signature: "v1,*** " }), body],
  ["a timestamp that is no number", sign({ timestamp: "today" }), body],
])("refuses %s", async (_, headers, received) => {
  expect(await isGenuine(headers, received, secrets)).toBe(false);
});

test("refuses everything when no secret is set", async () => {
  expect(await isGenuine(sign({}), body, [""])).toBe(false);
});

function sign({ secret = secrets[0] as string, ageSeconds = 0, signature = "", timestamp = "" }): Headers {
  const time = new Date(Date.now() - ageSeconds * 1000);
  return new Headers({
    "webhook-id": "msg_1",
    "webhook-timestamp": timestamp || String(Math.floor(time.getTime() / 1000)),
    "webhook-signature": signature || new Webhook(secret).sign("msg_1", time, body),
  });
}
