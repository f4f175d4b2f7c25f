import { expect, onTestFinished, test } from "vitest";
import type { Principal } from "../../src/access/principal.ts";
import { createTickets, MAX_TICKETS_PER_TENANT, TICKET_LIFETIME_MS } from "../../src/access/tickets.ts";
import { startBridge, type TokenName } from "../support/start-bridge.ts";
import { openSocket } from "../websocket/socket-client.ts";

const principal = (fields: Partial<Principal> = {}): Principal => ({
  name: "n",
  tenant: "t",
  scopes: new Set(["read"]),
  expiresAt: null,
  ...fields,
});

test("a ticket can be redeemed once, for its principal", () => {
  const tickets = createTickets();
  const who = principal();
  const { ticket } = tickets.issue(who);
  expect(ticket).toMatch(/^tkt_[A-Za-z0-9_-]{43}$/);
  expect(tickets.redeem(ticket)).toBe(who);
  expect(tickets.redeem(ticket)).toBeNull();
  expect(tickets.redeem("tkt_unknown")).toBeNull();
});

test("a ticket expires after 60 seconds, or earlier with its token", () => {
  let now = 1000;
  const tickets = createTickets({ clock: () => now });
  const issued = [principal(), principal({ expiresAt: 31_000 }), principal()].map((who) => tickets.issue(who));
  expect(issued.map(({ expiresAt }) => expiresAt)).toEqual([1000 + TICKET_LIFETIME_MS, 31_000, 1000 + TICKET_LIFETIME_MS]);
  now = 31_000;
  expect(tickets.redeem(issued[1]?.ticket ?? "")).toBeNull();
  now = 1000 + TICKET_LIFETIME_MS - 1;
  expect(tickets.redeem(issued[0]?.ticket ?? "")).not.toBeNull();
  now += 1;
  expect(tickets.redeem(issued[2]?.ticket ?? "")).toBeNull();
});

test("a tenant cannot exceed the maximum of unused tickets until some expire, and other tenants are not affected", () => {
  let now = 0;
  const tickets = createTickets({ clock: () => now });
  for (let count = 0; count < MAX_TICKETS_PER_TENANT; count += 1) tickets.issue(principal());
  expect(() => tickets.issue(principal())).toThrow(expect.objectContaining({ code: "overloaded" }));
  tickets.issue(principal({ tenant: "other" }));
  now += TICKET_LIFETIME_MS;
  tickets.issue(principal());
});

test("revoking a token invalidates its tickets and no others", () => {
  const tickets = createTickets();
  const [gone, kept] = [principal(), principal()];
  const issued = [gone, kept, gone].map((who) => tickets.issue(who).ticket);
  tickets.revoke(gone);
  expect(issued.map((ticket) => tickets.redeem(ticket))).toEqual([null, kept, null]);
});

test("a ticket with fewer scopes permits only these scopes", () => {
  const tickets = createTickets();
  const who = principal({ scopes: new Set(["read", "dispatch"]) });
  const redeemed = tickets.redeem(tickets.issue(who, ["read"]).ticket);
  expect(redeemed).toMatchObject({ name: "n", tenant: "t", expiresAt: null, scopes: new Set(["read"]) });
  const { ticket } = tickets.issue(who, ["dispatch"]);
  tickets.revoke(who);
  expect(tickets.redeem(ticket)).toBeNull();
});

test("a ticket cannot have a scope that its token lacks", () => {
  const tickets = createTickets();
  expect(() => tickets.issue(principal(), ["read", "dispatch"])).toThrow(
    expect.objectContaining({ code: "scope_missing", errors: [{ path: "scopes.1", message: expect.stringContaining('"dispatch"') }] }),
  );
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
  expect(await reader.ask("agent.run", run)).toMatchObject({ status: 403, payload: { error: "scope_missing" } });
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

test("setting the system clock back does not extend tickets, and unused tickets do not accumulate", () => {
  let now = 100_000_000;
  const tickets = createTickets({ clock: () => now });
  const { ticket } = tickets.issue(principal());
  now -= 36_000_000;
  expect(tickets.redeem(ticket)).toBeNull();
  now += 36_000_000;
  for (let count = 0; count < MAX_TICKETS_PER_TENANT; count += 1) tickets.issue(principal());
  now -= 36_000_000;
  expect(() => tickets.issue(principal())).not.toThrow();
});
