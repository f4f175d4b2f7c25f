// A complete receiver of callbacks: CALLBACK_SECRETS=whsec_… PORT=9000 node receiver.js
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const keys = (process.env.CALLBACK_SECRETS ?? "").split(",").map((secret) => Buffer.from(secret.replace("whsec_", ""), "base64"));
if (keys.some((key) => key.length < 24)) throw new Error("CALLBACK_SECRETS must contain the whsec_… secrets of Bridge");
const seen = new Set(); // Use your database instead: callbacks arrive at least once, and your process may restart.

const server = createServer((request, response) => {
  const answer = receive(request).then((status) => response.writeHead(status).end());
  answer.catch(() => response.destroy()); // Without an answer, Bridge retries.
});
server.listen(process.env.PORT ?? 9000, "127.0.0.1", () => console.log(`receiving on http://127.0.0.1:${server.address().port}`));

async function receive(request) {
  const { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": given = "" } = request.headers;
  const body = Buffer.concat(await request.toArray()); // The signature covers exactly these bytes.
  const expected = keys.map((key) => Buffer.from(`v1,${createHmac("sha256", key).update(`${id}.${time}.`).update(body).digest("base64")}`));
  const isOurs = (one) => expected.some((other) => one.length === other.length && timingSafeEqual(Buffer.from(one), other));
  if (!given.split(" ").some(isOurs)) return 401;
  if (!(Math.abs(Date.now() / 1000 - time) <= 300)) return 401; // More than five minutes apart: it may be a replay.
  const { taskId, status, output, error } = JSON.parse(body);
  if (!seen.has(id)) console.log(`${taskId}: ${status === "ok" ? output : error}`); // Process the result here.
  seen.add(id); // After the processing.
  return 204;
}
