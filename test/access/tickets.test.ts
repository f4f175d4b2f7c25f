import { describe, expect, onTestFinished, test } from "vitest";
import type { KnownToken, Principal } from "../../src/access/principal.ts";
import { createTickets, MAX_TICKETS_PER_TOKEN } from "../../src/access/tickets.ts";
import { TICKET_LIFETIME_MS } from "../../src/store/access/interface.ts";
import { openTestStore } from "../support/database-subject.ts";
import { startBridge, type TokenName } from "../support/start-bridge.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { openSocket } from "../websocket/socket-client.ts";

const tokenOf = (fields: Partial<Principal> = {}): KnownToken => ({
  digest: Buffer.from(`secret of ${fields.name ?? "n"}`),
  principal: { name: "n", tenant: "t", scopes: new Set(["read"]), expiresAt: null, ...fields },
});

/** Tickets on a real store, and the tokens that exist. */
async function openTickets(tokens: readonly KnownToken[], clock?: () => number) {
  const dataDir = await temporaryDirectory();
  const known = new Map(tokens.map((token) => [token.principal.name, token]));
  const open = () => openTestStore(dataDir, { clock });
  let store = await open();
  onTestFinished(() => store.close());
  const create = () => createTickets({ store, tokens: { findByName: (name) => known.get(name) ?? null } });
  return {
    known,
    tickets: create(),
    async restart() {
      await store.close();
      store = await open();
      return create();
    },
  };
}

test("a ticket can be redeemed once, for its principal, also after a restart", async () => {
  const token = tokenOf();
  const { tickets, restart } = await openTickets([token]);
  const [{ ticket }, other] = [await tickets.issue(token.principal), await tickets.issue(token.principal)];
  expect(ticket).toMatch(/^tkt_[A-Za-z0-9_-]{43}$/);
  expect(await tickets.redeem(ticket)).toBe(token.principal);
  expect(await tickets.redeem(ticket)).toBeNull();
  expect(await tickets.redeem("tkt_unknown")).toBeNull();
  const restarted = await restart();
  expect(await restarted.redeem(ticket)).toBeNull();
  expect(await restarted.redeem(other.ticket)).toBe(token.principal);
});

test("of many clients that redeem one ticket at the same time, one succeeds", async () => {
  const token = tokenOf();
  const { tickets } = await openTickets([token]);
  const { ticket } = await tickets.issue(token.principal);
  const redeemed = await Promise.all(Array.from({ length: 20 }, () => tickets.redeem(ticket)));
  expect(redeemed.filter((principal) => principal !== null)).toEqual([token.principal]);
});

test("a ticket expires after 60 seconds, or earlier with its token", async () => {
  let now = 1000;
  const [lasting, brief] = [tokenOf(), tokenOf({ name: "brief", expiresAt: 31_000 })];
  const { tickets } = await openTickets([lasting, brief], () => now);
  const issued = await Promise.all([lasting, brief, lasting].map(({ principal }) => tickets.issue(principal)));
  expect(issued.map(({ expiresAt }) => expiresAt)).toEqual([1000 + TICKET_LIFETIME_MS, 31_000, 1000 + TICKET_LIFETIME_MS]);
  now = 31_000;
  expect(await tickets.redeem(issued[1]?.ticket ?? "")).toBeNull();
  now = 1000 + TICKET_LIFETIME_MS - 1;
  expect(await tickets.redeem(issued[0]?.ticket ?? "")).not.toBeNull();
  now += 1;
  expect(await tickets.redeem(issued[2]?.ticket ?? "")).toBeNull();
});

test("a token cannot exceed the maximum of unused tickets until some expire, and other tokens of its tenant are not affected", async () => {
  let now = 0;
  const [token, other] = [tokenOf(), tokenOf({ name: "other" })];
  const { tickets } = await openTickets([token, other], () => now);
  // Together, in one commit.
  const issued = await Promise.allSettled(Array.from({ length: MAX_TICKETS_PER_TOKEN + 1 }, () => tickets.issue(token.principal)));
  expect(issued.filter(({ status }) => status === "fulfilled")).toHaveLength(MAX_TICKETS_PER_TOKEN);
  await expect(tickets.issue(token.principal)).rejects.toMatchObject({ code: "overloaded" });
  await tickets.issue(other.principal);
  now += TICKET_LIFETIME_MS;
  await tickets.issue(token.principal);
});

describe("a ticket permits nothing after", () => {
  const token = tokenOf({ scopes: new Set(["read", "dispatch"]) });
  test.each<[string, KnownToken | undefined]>([
    ["its token was revoked", undefined],
    ["another token got the name of its token", { digest: Buffer.from("new secret"), principal: { ...token.principal } }],
    ["its token moved to another tenant", { ...token, principal: { ...token.principal, tenant: "other" } }],
  ])("%s, also after a restart", async (_, changed) => {
    const kept = tokenOf({ name: "kept" });
    const { tickets, known, restart } = await openTickets([token, kept]);
    const issue = ({ principal }: KnownToken, scopes?: ["read"]) => tickets.issue(principal, { scopes });
    const issued = await Promise.all([issue(token), issue(token, ["read"]), issue(token), issue(kept)]);
    if (changed === undefined) known.delete("n");
    else known.set("n", changed);
    for (const { ticket } of issued.slice(0, 2)) expect(await tickets.redeem(ticket)).toBeNull();
    const restarted = await restart();
    expect(await restarted.redeem(issued[2]?.ticket ?? "")).toBeNull();
    expect(await restarted.redeem(issued[3]?.ticket ?? "")).toBe(kept.principal);
    await expect(tickets.issue(token.principal)).rejects.toMatchObject({ code: "unauthenticated" });
  });
});

test("a ticket with fewer scopes permits only these scopes, and none that its token has lost", async () => {
  const token = tokenOf({ scopes: new Set(["read", "dispatch", "approve"]) });
  const { tickets, known } = await openTickets([token]);
  const [reader, both] = [
    await tickets.issue(token.principal, { scopes: ["read"] }),
    await tickets.issue(token.principal, { scopes: ["read", "dispatch"] }),
  ];
  const redeemed = await tickets.redeem(reader.ticket);
  expect(redeemed).toMatchObject({ name: "n", tenant: "t", expiresAt: null, scopes: new Set(["read"]) });
  expect(redeemed?.derivedFrom).toBe(token.principal);
  known.set("n", { ...token, principal: { ...token.principal, scopes: new Set(["dispatch", "approve"]) } });
  expect(await tickets.redeem(both.ticket)).toMatchObject({ scopes: new Set(["dispatch"]) });
});

test("a ticket cannot have a scope that its token lacks", async () => {
  const token = tokenOf();
  const { tickets } = await openTickets([token]);
  await expect(tickets.issue(token.principal, { scopes: ["read", "dispatch"] })).rejects.toMatchObject({
    code: "scope_missing",
    errors: [{ path: "scopes.1", message: expect.stringContaining('"dispatch"') }],
  });
});

test("over HTTP and WebSocket, a ticket permits what its scopes permit", async () => {
  const bridge = await startBridge();
  onTestFinished(() => bridge.close());
  const create = (body?: unknown, token: TokenName = "alpha") => bridge.call("POST", "/api/v2/events/ticket", { token, body });
  const socketOf = async (body?: unknown) => {
    const client = await openSocket(`${bridge.url}/ws/bridge?ticket=${(await create(body)).body.ticket}`);
    onTestFinished(() => client.close());
    return client;
  };
  const run = { agent: "writer", input: "Hello.", provider: "memory" };

  const reader = await socketOf({ scopes: ["read"] });
  expect((await reader.ask("workspace.list")).status).toBe(200);
  expect(await reader.ask("agent.run", run)).toMatchObject({
    status: 403,
    payload: {
      error: "scope_missing",
      detail: { message: expect.stringContaining("ticket or session of this request was created without it") },
    },
  });
  for (const body of [undefined, {}, { scopes: ["dispatch"] }])
    expect((await (await socketOf(body)).ask("agent.run", run)).status).toBe(200);

  const approver = (await create({ scopes: ["approve"] })).body.ticket;
  const refused = await bridge.call("GET", `/api/events?ticket=${approver}`, { token: null, headers: { accept: "text/event-stream" } });
  expect([refused.status, refused.body.code]).toEqual([403, "scope_missing"]);

  const lacking = await create({ scopes: ["read", "approve"] }, "reader");
  expect([lacking.status, lacking.body.code, lacking.body.errors[0].path]).toEqual([403, "scope_missing", "scopes.1"]);
  for (const scopes of [[], ["everything"], "read", ["read", "read", "read", "read", "read", "read"]])
    expect((await create({ scopes })).body.code).toBe("invalid_request");
});

test("setting the system clock back does not extend tickets, and unused tickets do not accumulate", async () => {
  let now = 100_000_000;
  const token = tokenOf();
  const { tickets } = await openTickets([token], () => now);
  const { ticket } = await tickets.issue(token.principal);
  now -= 36_000_000;
  expect(await tickets.redeem(ticket)).toBeNull();
  now += 36_000_000;
  await Promise.all(Array.from({ length: MAX_TICKETS_PER_TOKEN }, () => tickets.issue(token.principal)));
  now -= 36_000_000;
  await tickets.issue(token.principal);
});
