import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import type { KnownToken, Principal } from "../../src/access/principal.ts";
import { createSessions, MAX_SESSIONS_PER_TOKEN } from "../../src/access/sessions.ts";
import { createTickets } from "../../src/access/tickets.ts";
import { SESSION_LIFETIME_MS } from "../../src/store/access/interface.ts";
import { openTestStore } from "../support/database-subject.ts";
import { expectProblem, startBridge } from "../support/start-bridge.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const tokenOf = (fields: Partial<Principal> = {}): KnownToken => ({
  digest: Buffer.from(`secret of ${fields.name ?? "n"}`),
  principal: { name: "n", tenant: "t", scopes: new Set(["read", "approve"]), expiresAt: null, ...fields },
});

/** Sessions on a real store, and the tokens that exist. */
async function openSessions(tokens: readonly KnownToken[], clock?: () => number) {
  const known = new Map(tokens.map((token) => [token.principal.name, token]));
  const dataDir = await temporaryDirectory();
  const open = () => openTestStore(dataDir, { clock });
  let store = await open();
  onTestFinished(() => store.close());
  const create = () => {
    const lookup = { findByName: (name: string) => known.get(name) ?? null };
    const tickets = createTickets({ store, tokens: lookup });
    return { tickets, sessions: createSessions({ store, tokens: lookup, tickets }) };
  };
  const created = create();
  return {
    known,
    ...created,
    signIn: async ({ principal }: KnownToken) =>
      created.sessions.open((await created.tickets.issue(principal, { purpose: "signIn" })).ticket),
    async restart() {
      await store.close();
      store = await open();
      return create().sessions;
    },
  };
}

test("a link opens one session, which replaces the token also after a restart", async () => {
  const token = tokenOf();
  const { tickets, sessions, restart } = await openSessions([token]);
  const { ticket } = await tickets.issue(token.principal, { purpose: "signIn" });
  const opened = await Promise.allSettled([sessions.open(ticket), sessions.open(ticket)]);
  const [session] = opened.flatMap((one) => (one.status === "fulfilled" ? [one.value.token] : []));
  expect(opened.filter(({ status }) => status === "rejected")).toMatchObject([{ reason: { code: "unauthenticated" } }]);
  const restarted = await restart();
  const found = await restarted.find(session ?? "");
  expect(found).toMatchObject({ name: "n", tenant: "t", scopes: token.principal.scopes, derivedFrom: token.principal });
  expect(await restarted.find(`ses_${"a".repeat(43)}`)).toBeNull();
});

test("a ticket of one purpose is not accepted for the other", async () => {
  const token = tokenOf();
  const { tickets, sessions } = await openSessions([token]);
  const [stream, link] = [await tickets.issue(token.principal), await tickets.issue(token.principal, { purpose: "signIn" })];
  await expect(sessions.open(stream.ticket)).rejects.toMatchObject({ code: "unauthenticated" });
  expect(await tickets.redeem(link.ticket)).toBeNull();
  expect(await tickets.redeem(stream.ticket)).toBe(token.principal);
  await expect(sessions.open(link.ticket)).resolves.toMatchObject({ token: expect.stringMatching(/^ses_/) });
});

test("a session ends after twelve hours, with its token, and when it is closed", async () => {
  let now = 1_000;
  const [lasting, brief] = [tokenOf(), tokenOf({ name: "brief", expiresAt: 3_600_000 })];
  const { sessions, signIn } = await openSessions([lasting, brief], () => now);
  const [a, b, c] = [await signIn(lasting), await signIn(brief), await signIn(lasting)];
  expect([a.expiresAt, b.expiresAt]).toEqual([now + SESSION_LIFETIME_MS, 3_600_000]);
  expect((await sessions.find(a.token))?.expiresAt).toBe(a.expiresAt);
  expect([await sessions.close(c.token), await sessions.close(c.token), await sessions.find(c.token)]).toEqual([true, false, null]);
  now = 3_600_000;
  expect([await sessions.find(a.token), await sessions.find(b.token)]).toEqual([expect.anything(), null]);
  now = a.expiresAt;
  expect(await sessions.find(a.token)).toBeNull();
  // The clock was set back: the session would live longer than a new one.
  now = 0;
  expect(await sessions.find(a.token)).toBeNull();
});

test.each([
  ["its token was revoked", undefined],
  ["another token got the name of its token", { digest: Buffer.from("new secret"), principal: tokenOf().principal }],
  ["its token moved to another tenant", tokenOf({ tenant: "other" })],
])("a session permits nothing after %s", async (_, changed) => {
  const token = tokenOf();
  const { known, sessions, signIn } = await openSessions([token]);
  const session = await signIn(token);
  if (changed === undefined) known.delete("n");
  else known.set("n", changed);
  expect(await sessions.find(session.token)).toBeNull();
});

test("a session ends with its token, also if the token got its expiry after the session was opened", async () => {
  const token = tokenOf();
  const { known, sessions, signIn } = await openSessions([token], () => 1_000);
  const session = await signIn(token);
  for (const [later, expected] of [
    [5_000, 5_000],
    [session.expiresAt + 1, session.expiresAt],
  ] as const) {
    known.set("n", { ...token, principal: { ...token.principal, expiresAt: later } });
    expect((await sessions.find(session.token))?.expiresAt).toBe(expected);
  }
});

test("a session loses the scopes that its token has lost", async () => {
  const token = tokenOf();
  const { known, sessions, signIn } = await openSessions([token]);
  const session = await signIn(token);
  known.set("n", { ...token, principal: { ...token.principal, scopes: new Set(["read", "manage"]) } });
  expect((await sessions.find(session.token))?.scopes).toEqual(new Set(["read"]));
});

test("a token that opens too many sessions loses its oldest ones, and other tokens of its tenant sign in", async () => {
  let now = 0;
  const [busy, other] = [tokenOf(), tokenOf({ name: "other" })];
  const { sessions, signIn } = await openSessions([busy, other], () => now);
  const opened = [];
  for (; now < MAX_SESSIONS_PER_TOKEN; now += 1) opened.push((await signIn(busy)).token);
  const [first = "", second = ""] = opened;
  const another = await signIn(other);
  expect(await sessions.find(first)).not.toBeNull();
  const last = await signIn(busy);
  expect(await sessions.find(first)).toBeNull();
  for (const token of [second, another.token, last.token]) expect(await sessions.find(token)).not.toBeNull();
});

test("with a rate limit, links open sessions without being counted, because their requests have no token", async () => {
  const bridge = await startBridge({ BRIDGE_RATE_LIMIT: "1" });
  onTestFinished(() => bridge.close());
  const { body: link } = await bridge.call("POST", "/api/v2/sessions/link", { token: "reader" });
  const open = (ticket: unknown) => bridge.call("POST", "/api/v2/sessions", { token: null, body: { ticket } });
  for (const ticket of ["unknown", "unknown"]) expectProblem(await open(ticket), "unauthenticated");
  expect((await open(link.ticket)).status).toBe(201);
  expectProblem(await bridge.call("POST", "/api/v2/sessions/link", { token: "reader" }), "too_many_requests");
});

test("over HTTP, a link opens a session, which cannot create links and tickets, and ends when the client ends it", async () => {
  const bridge = await startBridge();
  onTestFinished(() => bridge.close());
  const { body: link } = await bridge.call("POST", "/api/v2/sessions/link", { token: "reader" });
  expect(link).toMatchObject({ path: `ui/#t=${link.ticket}`, expiresAt: expect.any(String) });
  const open = (ticket: unknown) => bridge.call("POST", "/api/v2/sessions", { token: null, body: { ticket } });
  const opened = await open(link.ticket);
  expect([opened.status, opened.headers.get("cache-control")]).toEqual([201, "no-store"]);
  const headers = { authorization: `Bearer ${opened.body.token}` };
  const call = (method: string, target: string) => bridge.call(method, target, { token: null, headers });
  const me = (await bridge.call("GET", "/api/v2/me", { token: "reader" })).body;
  expect((await call("GET", "/api/v2/me")).body).toEqual({ ...me, expiresAt: opened.body.expiresAt });
  for (const target of ["/api/v2/sessions/link", "/api/v2/events/ticket"]) expectProblem(await call("POST", target), "scope_missing");
  expectProblem(await bridge.call("DELETE", "/api/v2/sessions/current", { token: "reader" }), "not_found");
  expect((await call("DELETE", "/api/v2/sessions/current")).status).toBe(204);
  expectProblem(await call("GET", "/api/v2/me"), "unauthenticated");
  for (const ticket of [link.ticket, randomUUID(), ""]) expectProblem(await open(ticket), "unauthenticated");
  for (const ticket of [7, "x".repeat(101)]) expectProblem(await open(ticket), "invalid_request");
});
