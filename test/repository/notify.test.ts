import path from "node:path";
import { createInterface } from "node:readline";
import { execa } from "execa";
import { Webhook } from "standardwebhooks";
import { expect, onTestFinished, test } from "vitest";
import { type Answer, startReceiver } from "../support/start-receiver.ts";

const program = path.resolve(import.meta.dirname, "../../examples/notify/notify.js");
const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const link = "https://bridge.example/ui/approvals";
const asked = {
  type: "tool.approval_requested",
  timestamp: "2026-11-23T16:30:11.204Z",
  data: { taskId: "report-7", agentId: "auditor", provider: "claude", approvalId: "apr_1", title: "Räume <b>auf</b> & lösche", url: link },
};

/** Starts the example with a scripted ntfy and a scripted Slack. */
async function startNotifier({ ntfy, slack }: { ntfy?: Answer; slack?: Answer } = {}) {
  const [ntfyServer, slackServer] = [await startReceiver(ntfy), await startReceiver(slack)];
  const env = {
    WEBHOOK_SECRETS: secret,
    NTFY_URL: `${ntfyServer.origin}/base/my-topic`,
    NTFY_TOKEN: "tk_1",
    SLACK_URL: `${slackServer.origin}/services/T1`,
    PORT: "0",
  };
  const notifier = execa(process.execPath, [program], { env, stdin: "ignore", reject: false });
  onTestFinished(async () => {
    notifier.kill();
    await Promise.all([notifier, ntfyServer.close(), slackServer.close()]);
  });
  const { value } = await createInterface({ input: notifier.stdout })[Symbol.asyncIterator]().next();
  const url = String(value).replace("receiving on ", "");
  return {
    async post(id: string, event: object = asked, key = secret): Promise<number> {
      const body = JSON.stringify(event);
      const at = new Date();
      const headers = {
        "webhook-id": id,
        "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
        "webhook-signature": new Webhook(key).sign(id, at, body),
      };
      return (await fetch(url, { method: "POST", headers, body })).status;
    },
    ntfy: ntfyServer,
    slack: slackServer,
  };
}

const bodiesOf = ({ posts }: Awaited<ReturnType<typeof startReceiver>>): unknown[] => posts.map(({ body }) => JSON.parse(body.toString()));

test("the example posts a verified approval once to ntfy and to Slack, with a link to the console", async () => {
  const { post, ntfy, slack } = await startNotifier();
  expect([await post("msg_1"), await post("msg_1")]).toEqual([204, 204]);
  expect(bodiesOf(ntfy)).toEqual([
    { topic: "my-topic", title: "Approval needed", message: "Räume <b>auf</b> & lösche · auditor", click: link, priority: 5 },
  ]);
  expect(ntfy.posts[0]).toMatchObject({ path: "/base/", headers: { authorization: "Bearer tk_1" } });
  expect(bodiesOf(slack)).toEqual([{ text: `*Approval needed*\n<${link}|Räume &lt;b&gt;auf&lt;/b&gt; &amp; lösche · auditor>` }]);
  expect(slack.posts[0]?.path).toBe("/services/T1");
});

test("the title of a task adds no line to a notification and reverses no text", async () => {
  const { post, ntfy, slack } = await startNotifier();
  const title = "Clean up\n*Approved by alice*\u2028\u202eevil";
  expect(await post("msg_3", { ...asked, data: { ...asked.data, title } })).toBe(204);
  expect(bodiesOf(ntfy)).toMatchObject([{ message: "Clean up<U+000A>*Approved by alice*<U+2028><U+202E>evil · auditor" }]);
  expect(bodiesOf(slack)).toEqual([
    {
      text: `*Approval needed*\n<${link}|Clean up&lt;U+000A&gt;*Approved by alice*&lt;U+2028&gt;&lt;U+202E&gt;evil · auditor>`,
    },
  ]);
});

test("the example rejects an event with another signature", async () => {
  const { post, ntfy } = await startNotifier();
  expect(await post("msg_1", asked, `whsec_${Buffer.alloc(32, 8).toString("base64")}`)).toBe(401);
  expect(ntfy.posts).toEqual([]);
});

test("if Slack fails, the example asks for a repetition, and does not post to ntfy again", async () => {
  const { post, ntfy, slack } = await startNotifier({
    slack: (response, _request, number) => response.writeHead(number === 1 ? 503 : 200).end("ok"),
  });
  const offline = { type: "adapter.offline", timestamp: asked.timestamp, data: { provider: "claude", node: "bridge-1", url: link } };
  expect([await post("msg_2", offline), await post("msg_2", offline)]).toEqual([502, 204]);
  expect(bodiesOf(ntfy)).toMatchObject([{ title: "Adapter offline", message: "claude · bridge-1", priority: 3 }]);
  expect(slack.posts).toHaveLength(2);
});
