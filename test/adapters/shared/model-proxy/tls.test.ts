import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { createSelfSignedCertificate } from "../../../support/self-signed-certificate.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";

const run = promisify(execFile);
const program = path.resolve(import.meta.dirname, "../../../fixtures/programs/call-once.ts");

/** Starts a vendor whose certificate is signed by an unknown authority. */
async function openVendor() {
  const { cert, key } = createSelfSignedCertificate();
  const keys: unknown[] = [];
  const server = createServer({ cert, key }, (request, response) => {
    keys.push(request.headers["x-api-key"]);
    request.resume();
    response.end("answered");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const file = path.join(await temporaryDirectory(), "authority.pem");
  await writeFile(file, cert);
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, file, keys };
}

const callOnce = async (url: string, env: Record<string, string>): Promise<[number, string]> =>
  JSON.parse((await run(process.execPath, [program, url], { env: { PATH: process.env["PATH"], ...env } })).stdout);

test("the proxy calls a vendor over TLS whose authority is in NODE_EXTRA_CA_CERTS", async () => {
  const { url, file, keys } = await openVendor();
  expect(await callOnce(url, { NODE_EXTRA_CA_CERTS: file })).toEqual([200, "answered"]);
  expect(keys).toEqual(["sk-real-secret"]);
});

test("the proxy sends no key to a vendor whose authority is unknown", async () => {
  const { url, keys } = await openVendor();
  const [status, body] = await callOnce(url, {});
  expect([status, body]).toEqual([502, expect.stringContaining("self-signed certificate")]);
  expect(keys).toEqual([]);
});
