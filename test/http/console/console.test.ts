import { readdirSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bridge, startBridge } from "../../support/start-bridge.ts";

const assets = readdirSync(path.resolve(import.meta.dirname, "../../../packages/console/dist/assets"));
const script = `/ui/assets/${assets.find((name) => /^console-.*\.js$/.test(name))}`;

let bridge: Bridge;
beforeAll(async () => {
  bridge = await startBridge();
});
afterAll(() => bridge.close());

/** Sends a request without a token. */
const open = (target: string, headers: Record<string, string> = {}) => bridge.call("GET", target, { token: null, headers });

test("the console is a page that may load and run only what Bridge serves", async () => {
  const { status, headers, text } = await open("/ui/");
  expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(headers.get("content-security-policy")).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types lit-html",
  );
  expect(headers.get("referrer-policy")).toBe("no-referrer");
  expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("cache-control")).toBe("no-cache");
  expect(text).not.toMatch(/https?:|<style|style=|\son\w+=/);
});

test("assets have a hash in their name and are cached forever, compressed or not", async () => {
  for (const encoding of ["gzip", "identity", "gzip;q=0"]) {
    const { status, headers, text } = await open(script, { "accept-encoding": encoding });
    expect([status, headers.get("content-type")]).toEqual([200, "text/javascript; charset=utf-8"]);
    expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(headers.get("content-encoding")).toBe(encoding === "gzip" ? "gzip" : null);
    expect(text).toContain("bridge-app");
  }
});

test.each([
  ["/ui/", "./"],
  ["/ui/tasks?state=failed", "./"],
  ["/ui/tasks/report-7", "../"],
  ["/ui/a/b/c", "../../"],
])("the path %s returns the page with the right paths of its assets", async (target, toRoot) => {
  const { status, text } = await open(target);
  expect(status).toBe(200);
  expect(text).toContain(`src="${toRoot}${script.slice("/ui/".length)}"`);
});

test("a path without the last slash is redirected, and unknown assets are not found", async () => {
  const { status, headers } = await open("/ui");
  expect([status, headers.get("location")]).toEqual([302, "ui/"]);
  for (const target of ["/ui/assets/missing.js", "/ui/assets/", "/ui/assets/..%2findex.html", "/ui/assets/%2e%2e/%2e%2e/package.json"]) {
    const answer = await open(target);
    // The URL parser resolves `..` before it sends the request, and the rest is not the name of an asset.
    expect([answer.status, answer.text.includes('"dependencies"')], target).not.toEqual([200, true]);
  }
});
