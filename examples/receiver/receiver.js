// A complete receiver of callbacks: CALLBACK_SECRETS=whsec_… PORT=9000 node receiver.js
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const keys = (process.env.CALLBACK_SECRETS ?? "").split(",").map((secret) => Buffer.from(secret.replace("whsec_", ""), "base64"));
if (keys.some((key) => key.length < 24)) throw new Error("CALLBACK_SECRETS must name the whsec_… secrets that Bridge signs with");
const seen = new Set(); // Keep it in your database: a callback comes at least once, and your process may restart.

const server = createServer((request, response) => {
  const answer = receive(request).then((status) => response.writeHead(status).end());
  answer.catch(() => response.destroy()); // No answer: Bridge tries again.
});
server.listen(process.env.PORT ?? 9000, "127.0.0.1", () => console.log(`receiving on http://127.0.0.1:${server.address().port}`));

async function receive(request) {
  const { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": given = "" } = request.headers;
  const body = Buffer.concat(await request.toArray()); // The signature covers these very bytes.
  const expected = keys.map((key) => Buffer.from(`v1,${createHmac("sha256", key).update(`${id}.${time}.`).update(body).digest("base64")}`));
  const isOurs = (one) => expected.some((other) => one.length === other.length && timingSafeEqual(Buffer.from(one), other));
  if (!given.split(" ").some(isOurs)) return 401;
  if (!(Math.abs(Date.now() / 1000 - time) <= 300)) return 401; // Older than five minutes: perhaps a replay.
  const { taskId, status, output, error } = JSON.parse(body);
  if (!seen.has(id)) console.log(`${taskId}: ${status === "ok" ? output : error}`); // Your work.
  seen.add(id); // Only when it is done.
  return 204;
}
