import { afterAll, beforeAll, expect, test } from "vitest";
import { type ConsoleBench, startConsole } from "./open-console.ts";
import { expectQuiet } from "./open-page.ts";

let bench: ConsoleBench;
beforeAll(async () => {
  bench = await startConsole(`console.log("done")`);
});
afterAll(() => bench?.close());

test("a person signs in with a token, which leaves the browser at the end", async () => {
  const opened = await bench.open("", { token: null });
  const { page } = opened;
  await page.getByLabel("Token").fill("secret-operator");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.getByText("Nothing waits for a person.").waitFor();
  await page.getByText("No tasks yet.").waitFor();
  const stored = "JSON.stringify([sessionStorage.getItem('bridge.token'), localStorage.getItem('bridge.token')])";
  expect(JSON.parse(await page.evaluate(stored))).toEqual(["secret-operator", null]);

  await page.reload();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Token").waitFor();
  expect(JSON.parse(await page.evaluate(stored))).toEqual([null, null]);
  expectQuiet(opened);
});

test("a link signs in once, leaves the address, and its session ends when the person signs out", async () => {
  const headers = { authorization: "Bearer secret-operator" };
  const answer = await fetch(`${bench.url}/api/v2/sessions/link`, { method: "POST", headers });
  const { path } = (await answer.json()) as { path: string };
  const opened = await bench.open(path.slice("ui/".length), { token: null });
  const { page } = opened;
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  expect(page.url()).toBe(`${bench.url}/ui/`);
  const token: string = await page.evaluate("sessionStorage.getItem('bridge.token')");
  expect(token).toMatch(/^ses_/);
  const isValid = async () => (await fetch(`${bench.url}/api/v2/me`, { headers: { authorization: `Bearer ${token}` } })).ok;
  expect(await isValid()).toBe(true);
  await page.reload();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Token").waitFor();
  await expect.poll(isValid).toBe(false);
  expectQuiet(opened);

  const again = await bench.open(path.slice("ui/".length), { token: null });
  await again.page.getByRole("alert").getByText("was used").waitFor();
  expect(again.page.url()).toBe(`${bench.url}/ui/`);
});

/** Creates a sign-in link for a token. Returns its part below `/ui/`. */
async function createLink(token: "operator" | "reader" | "stranger"): Promise<string> {
  const answer = await fetch(`${bench.url}/api/v2/sessions/link`, { method: "POST", headers: { authorization: `Bearer secret-${token}` } });
  return ((await answer.json()) as { path: string }).path.slice("ui/".length);
}

const storedToken = "sessionStorage.getItem('bridge.token')";

test("a link that is opened in a tab of the console signs in, and leaves the address and the history", async () => {
  const { page } = await bench.open("", { token: null });
  await page.getByLabel("Token").waitFor();
  await page.goto(`${bench.url}/ui/${await createLink("operator")}`);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  expect(page.url()).toBe(`${bench.url}/ui/`);
  expect(await page.evaluate(storedToken)).toMatch(/^ses_/);
  await page.goto(`${bench.url}/ui/#t=not a ticket`);
  await expect.poll(() => page.url()).toBe(`${bench.url}/ui/`);
  await page.goBack();
  expect(page.url()).toBe(`${bench.url}/ui/`);
});

test("a used link continues with the token that the browser remembers", async () => {
  const link = await createLink("operator");
  await (await bench.open(link, { token: null })).page.getByRole("heading", { name: "Overview" }).waitFor();
  const { page } = await bench.open("", { token: null });
  await page.getByLabel("Token").fill("secret-reader");
  await page.getByLabel("Remember in this browser").check();
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  const second = await page.context().newPage();
  await second.goto(`${bench.url}/ui/${link}`);
  await second.getByRole("heading", { name: "Overview" }).waitFor();
  await second.getByTitle("reader, tenant alpha").waitFor();
});

test("a link of another token asks before it replaces who is signed in", async () => {
  const { page } = await bench.open("", { token: null });
  await page.getByLabel("Token").fill("secret-operator");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  const opened: string[] = [];
  page.on("response", async (response) => {
    if (response.url().endsWith("/api/v2/sessions")) opened.push(((await response.json()) as { token: string }).token);
  });
  await page.goto(`${bench.url}/ui/${await createLink("stranger")}`);
  await page.getByText("You are signed in as operator").waitFor();
  await page.getByRole("button", { name: "Stay signed in as operator" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  expect(await page.evaluate(storedToken)).toBe("secret-operator");
  // The session of the link that was declined has ended.
  const me = () => fetch(`${bench.url}/api/v2/me`, { headers: { authorization: `Bearer ${opened[0]}` } });
  await expect.poll(async () => (await me()).status).toBe(401);

  await page.goto(`${bench.url}/ui/${await createLink("stranger")}`);
  await page.getByRole("button", { name: "Sign in as stranger" }).click();
  await page.getByTitle("stranger, tenant beta").waitFor();
  expect(await page.evaluate(storedToken)).toMatch(/^ses_/);
});

test("a token survives single responses of a node that does not know it", async () => {
  const { page } = await bench.open("", { token: null });
  const rejected = new Set<string>();
  await page.route(/\/api\/(v2\/approvals|events)\b/, (route) => {
    const { pathname } = new URL(route.request().url());
    if (rejected.has(pathname)) return route.continue();
    rejected.add(pathname);
    return route.fulfill({ status: 401, json: { code: "unauthenticated", detail: "The token is unknown." } });
  });
  await page.getByLabel("Token").fill("secret-operator");
  await page.keyboard.press("Enter");
  await expect.poll(() => rejected.size).toBe(2);
  // Only an event of the stream shows the task on this page.
  await page.getByRole("link", { name: "Tasks" }).click();
  await page.getByRole("heading", { name: "Tasks" }).waitFor();
  await bench.call("POST", "/api/v2/dispatch", { taskId: "after-401", agentId: "a", provider: "command", message: "m" });
  await page.getByText("after-401").first().waitFor({ state: "attached" });
  expect(await page.evaluate(storedToken)).toBe("secret-operator");
});

test("a remembered token survives the tab, until the person signs out", async () => {
  const opened = await bench.open("", { token: null });
  await opened.page.getByLabel("Token").fill("secret-operator");
  await opened.page.getByLabel("Remember in this browser").check();
  await opened.page.getByRole("button", { name: "Sign in" }).click();
  await opened.page.getByRole("heading", { name: "Overview" }).waitFor();
  const second = await opened.page.context().newPage();
  await second.goto(`${bench.url}/ui/`);
  await second.getByRole("heading", { name: "Overview" }).waitFor();
  await second.getByRole("button", { name: "Sign out" }).click();
  const third = await opened.page.context().newPage();
  await third.goto(`${bench.url}/ui/`);
  await third.getByLabel("Token").waitFor();
});

test("an unknown token is rejected on the same page as unknown, not as revoked", async () => {
  const { page } = await bench.open("", { token: null });
  await page.getByLabel("Token").fill("wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").getByText("Bridge does not know this token.").waitFor();
  expect(await page.getByRole("alert").textContent()).not.toContain("no longer");
});

test("a withdrawn token shows the sign-in in every tab, because the event stream ends", async () => {
  const { page } = await bench.open("tasks", { token: "reader" });
  await page.getByText("live", { exact: true }).waitFor();
  const second = await page.context().newPage();
  await second.goto(`${bench.url}/ui/approvals`);
  await second.getByText("No tool call waits for a decision.").waitFor();
  // Of the other requests, only the one that confirms it gets a response, so that no periodic request can report that the token is unknown.
  await page.context().route(/\/api\/v2\/(?!me$)/, () => {});
  const events = page.context().waitForEvent("response", (response) => response.url().includes("/api/events") && response.status() === 401);
  await bench.writeTokens(["operator", "stranger"]);
  await events;
  for (const tab of [page, second]) {
    await tab.getByRole("alert").getByText("no longer accepts this token. It has expired or was revoked.").waitFor();
    await tab.getByLabel("Token").waitFor();
    expect(await tab.evaluate("sessionStorage.getItem('bridge.token')")).toBeNull();
  }
  await bench.writeTokens(["operator", "stranger", "reader"]);
});

test("the console comes back by itself after Bridge was killed and started again", async () => {
  const { page } = await bench.open("");
  await page.getByText("live", { exact: true }).waitFor();
  bench.bridge.signal("SIGKILL");
  await bench.bridge.exited;
  await page.getByText("reconnecting …").waitFor();
  await bench.restart();
  await page.getByText("live", { exact: true }).waitFor();
});

test.each(["new", "callbacks", "webhooks", "adapters", "usage"])("the page %s opens by its address without an error", async (name) => {
  const opened = await bench.open(name);
  await opened.page.getByRole("heading", { level: 1 }).waitFor();
  expectQuiet(opened);
});
