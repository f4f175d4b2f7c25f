import { rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { createDestinationGuard } from "../../src/network/destination-guard.ts";
import { openWebhooksFile } from "../../src/webhooks/webhooks-file.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const valid = { name: "oncall", url: "https://notify.example/bridge", secrets: [secret] };

async function open(content: unknown) {
  const file = path.join(await temporaryDirectory(), "webhooks.json");
  const write = async (text: unknown) => {
    await writeFile(`${file}.new`, typeof text === "string" ? text : JSON.stringify(text));
    await rename(`${file}.new`, file);
  };
  await write(content);
  const log: Record<string, unknown>[] = [];
  let reloads = 0;
  const opened = openWebhooksFile({
    file,
    checkUrl: createDestinationGuard({ allow: [] }).checkUrl,
    logger: pino({ base: null }, { write: (line: string) => void log.push(JSON.parse(line)) }),
    pollMs: 5,
    onReloaded: () => {
      reloads += 1;
    },
  });
  onTestFinished(opened.close);
  return { file, write, log, reloads: () => reloads, names: () => opened.subscriptions().map(({ name }) => name), ...opened };
}

test("fills in the defaults of a webhook", async () => {
  const { subscriptions } = await open([valid]);
  const types = ["tool.approval_requested", "execution.completed", "execution.failed", "callback.dead", "adapter.offline"];
  expect(subscriptions()).toEqual([
    expect.objectContaining({ name: "oncall", tenant: "default", url: valid.url, types, filter: {}, headers: {} }),
  ]);
});

test.each<[string, unknown, string]>([
  ["another value than an array", {}, "must be an array, for example [{"],
  ["text that is not JSON", "[", "is not valid JSON"],
  ["an unknown field", [{ ...valid, secret }], "0.secret is not a known field; did you mean secrets?"],
  ["no name", [{ ...valid, name: undefined }], "0.name is required (string)"],
  ["a name with a space", [{ ...valid, name: "on call" }], "0.name must be 1 to 64 letters, digits, dots, hyphens or underscores"],
  ["a repeated name", [valid, { ...valid, tenant: "other" }], "1.name oncall is the name of another webhook; choose a unique name"],
  ["no secret", [{ ...valid, secrets: [] }], "0.secrets must have at least 1 entries"],
  ["a short secret", [{ ...valid, secrets: ["whsec_c2hvcnQ="] }], "0.secrets.0 must encode 24 to 64 bytes"],
  ["a URL that is none", [{ ...valid, url: "notify" }], "0.url is not an absolute URL"],
  ["a private host", [{ ...valid, url: "https://10.0.0.1/" }], "0.url names a host that is not public"],
  ["a plain public URL", [{ ...valid, url: "http://notify.example/" }], "0.url must begin with https://"],
  ["an unknown type", [{ ...valid, types: ["assistant.text"] }], "0.types.0 must be one of"],
  ["an unknown condition", [{ ...valid, filter: { label: "x" } }], "0.filter.label is not a known field"],
  ["a header of the protocol", [{ ...valid, headers: { "Webhook-Id": "1" } }], "0.headers.Webhook-Id must not be a header that Bridge"],
  [
    "a header with a line break",
    [{ ...valid, headers: { authorization: "a\nb" } }],
    "0.headers.authorization must be up to 4096 printable",
  ],
  ["a tenant with a slash", [{ ...valid, tenant: "a/b" }], "0.tenant must be 1 to 128 of"],
])("the webhooks file refuses %s, and names the field and the correction but no secret", async (_, content, fault) => {
  const error = await open(content).catch((error: unknown) => error);
  expect(error).toMatchObject({ faults: [expect.stringContaining(`BRIDGE_WEBHOOKS_FILE: ${fault}`)] });
  expect(String((error as { faults: string[] }).faults)).not.toContain(secret);
});

test.each<[string, unknown, string | null]>([
  ["the name of the entry", [valid, { ...valid, name: "pager", url: "https://10.0.0.1/" }], "pager"],
  ["the name of the entry whose field has the wrong form", [{ ...valid, secrets: [] }], "oncall"],
  ["no name if the whole file is at fault", Array.from({ length: 200 }, (_, index) => ({ ...valid, name: `n${index}` })), null],
  ["no name if that is the fault", [{ ...valid, name: "on call" }], null],
  ["no name if that is not a text", [{ ...valid, name: 5, url: 5 }], null],
  ["no name that is too long to show", [{ ...valid, name: "x".repeat(129), url: 5 }], null],
])("a fault ends with %s", async (_, content, name) => {
  const { faults } = (await open(content).catch((error: unknown) => error)) as { faults: string[] };
  expect(faults.join("\n").match(/\(entry (".*")\)/)?.[1] ?? null).toBe(name === null ? null : JSON.stringify(name));
});

test("the webhooks file reports where a text is not JSON, without the text, which can contain a secret", async () => {
  const { file, log } = await open([valid]);
  await writeFile(file, `[{"name": "a", "headers": {"authorization": Bearer s3cret"}}]`);
  await expect.poll(() => log.at(-1)?.["faults"], { interval: 5 }).toEqual(["BRIDGE_WEBHOOKS_FILE: is not valid JSON"]);
  await writeFile(file, `[{"name": "a" "secrets": ["whsec_s3cret"]}]`);
  await expect
    .poll(() => log.at(-1)?.["faults"], { interval: 5 })
    .toEqual(["BRIDGE_WEBHOOKS_FILE: is not valid JSON at position 14 (line 1 column 15)"]);
  expect(JSON.stringify(log)).not.toContain("cret");
});

test("the webhooks file reads a new version; an invalid or absent one keeps the previous webhooks and is logged with its faults", async () => {
  const { file, write, log, names, reloads } = await open([valid]);
  await write([valid, { ...valid, name: "second" }]);
  await expect.poll(names, { interval: 5 }).toEqual(["oncall", "second"]);
  await write([{ ...valid, url: "https://10.0.0.1/" }]);
  await expect
    .poll(() => log.at(-1)?.["faults"], { interval: 5 })
    .toEqual([expect.stringContaining("0.url names a host that is not public")]);
  await rm(file);
  await expect.poll(() => log.at(-1)?.["faults"], { interval: 5 }).toEqual(["BRIDGE_WEBHOOKS_FILE: cannot be read (ENOENT)"]);
  expect(names()).toEqual(["oncall", "second"]);
  await write([]);
  await expect.poll(names, { interval: 5 }).toEqual([]);
  expect(reloads()).toBe(2);
});
