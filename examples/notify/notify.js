// Posts the webhooks of Bridge to ntfy, to Slack, or to both:
// WEBHOOK_SECRETS=whsec_… NTFY_URL=https://ntfy.sh/my-topic SLACK_URL=https://hooks.slack.com/services/… PORT=9100 node notify.js
import { createServer } from "node:http";
import { verifyWebhook } from "bridge-client";

const { WEBHOOK_SECRETS = "", NTFY_URL, NTFY_TOKEN, SLACK_URL, PORT = "9100" } = process.env;
const secrets = WEBHOOK_SECRETS.split(",").filter(Boolean);
if (secrets.length === 0) throw new Error("WEBHOOK_SECRETS must contain the secrets of the webhook, for example whsec_…");
const targets = { ...(NTFY_URL && { ntfy: postToNtfy }), ...(SLACK_URL && { slack: postToSlack }) };
if (Object.keys(targets).length === 0) throw new Error("Set NTFY_URL, SLACK_URL, or both.");

const MAX_BODY_BYTES = 64 * 1024;
const MAX_REMEMBERED = 10_000;
/** What was posted. Webhooks arrive at least once, and again if one of the targets failed. */
const posted = new Set();

const server = createServer((request, response) => {
  receive(request).then(
    (status) => response.writeHead(status).end(),
    (error) => {
      console.error(error.message);
      response.writeHead(502).end(); // Bridge retries.
    },
  );
});
server.listen(Number(PORT), "127.0.0.1", () => console.log(`receiving on http://127.0.0.1:${server.address().port}`));

async function receive(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return 413;
    chunks.push(chunk);
  }
  const event = await verifyWebhook(request.headers, Buffer.concat(chunks), secrets);
  if (event === null) return 401;
  for (const [name, post] of Object.entries(targets)) {
    const key = `${name} ${request.headers["webhook-id"]}`;
    if (posted.has(key)) continue;
    await post(describe(event));
    posted.add(key);
    if (posted.size > MAX_REMEMBERED) posted.delete(posted.values().next().value);
  }
  return 204;
}

/** Returns the texts of an event, and where a click leads. */
function describe({ type, data }) {
  const title =
    {
      "tool.approval_requested": "Approval needed",
      "execution.completed": "Task completed",
      "execution.failed": "Task failed",
      "callback.dead": "Callback not delivered",
      "adapter.offline": "Adapter offline",
    }[type] ?? type;
  const subject = data.taskId === undefined ? [data.provider, data.node] : [data.title ?? data.taskId, data.agentId, data.errorCode];
  return { title, text: showHidden(subject.filter(Boolean).join(" · ")), url: data.url, isUrgent: type === "tool.approval_requested" };
}

/** Shows line breaks and characters that hide or reverse text as their codes, because the title of a task is text of its caller. */
function showHidden(text) {
  return text.replaceAll(
    /(?!\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu,
    (character) => `<U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}>`,
  );
}

async function postToNtfy({ title, text, url, isUrgent }) {
  const topicUrl = new URL(NTFY_URL);
  const topic = topicUrl.pathname.split("/").at(-1);
  const body = { topic, title, message: text, click: url, priority: isUrgent ? 5 : 3 };
  await send("ntfy", new URL("./", topicUrl), body, NTFY_TOKEN ? { authorization: `Bearer ${NTFY_TOKEN}` } : {});
}

async function postToSlack({ title, text, url }) {
  const toText = (part) => part.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  await send("Slack", SLACK_URL, { text: `*${toText(title)}*\n<${url}|${toText(text).replaceAll("|", "¦")}>` });
}

async function send(name, url, body, headers = {}) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`${name} responded with status ${response.status}.`);
}
