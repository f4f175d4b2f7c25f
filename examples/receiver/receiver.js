// A complete receiver of callbacks: CALLBACK_SECRETS=whsec_… PORT=9000 node receiver.js
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const secrets = (process.env.CALLBACK_SECRETS ?? "").split(",").map((secret) => Buffer.from(secret.replace("whsec_", ""), "base64"));
if (secrets.some((secret) => secret.length < 24)) throw new Error("CALLBACK_SECRETS must name the whsec_… secrets that Bridge signs with");
const seen = new Set(); // Keep it in your database: a callback comes at least once, and your process may restart.

const server = createServer((request, response) => {
  receive(request).then(
    (status) => response.writeHead(status).end(),
    () => response.destroy(), // No answer: Bridge tries again.
  );
});
server.listen(process.env.PORT ?? 9000, "127.0.0.1", () => console.log(`receiving on http://127.0.0.1:${server.address().port}`));

async function receive(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > 64 * 1024 * 1024) return 413; // Strangers can post here too.
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks); // The signature covers these very bytes.
  if (!isGenuine(request.headers, body)) return 401;
  if (seen.has(request.headers["webhook-id"])) return 204;
  const { taskId, status, output, error } = JSON.parse(body);
  console.log(`${taskId}: ${status === "ok" ? output : error}`); // Your work. Remember the id only when it is done.
  seen.add(request.headers["webhook-id"]);
  return 204;
}

function isGenuine({ "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures = "" }, body) {
  if (!(Math.abs(Date.now() / 1000 - timestamp) <= 300)) return false; // Older than five minutes: perhaps a replay.
  const expected = secrets.map((secret) => createHmac("sha256", secret).update(`${id}.${timestamp}.`).update(body).digest());
  const given = signatures.split(" ").map((signature) => Buffer.from(signature.replace(/^v1,/, ""), "base64"));
  return given.some((one) => expected.some((other) => one.length === other.length && timingSafeEqual(one, other)));
}
