import { expect, test } from "vitest";
import type { Principal } from "../../src/http/principal.ts";
import { createTickets, MAX_TICKETS_PER_TENANT, TICKET_LIFETIME_MS } from "../../src/http/tickets.ts";

const principal = (fields: Partial<Principal> = {}): Principal => ({
  name: "n",
  tenant: "t",
  scopes: new Set(["read"]),
  expiresAt: null,
  ...fields,
});

test("a ticket speaks for its principal, once", () => {
  const tickets = createTickets();
  const who = principal();
  const { ticket } = tickets.mint(who);
  expect(ticket).toMatch(/^tkt_[A-Za-z0-9_-]{43}$/);
  expect(tickets.redeem(ticket)).toBe(who);
  expect(tickets.redeem(ticket)).toBeNull();
  expect(tickets.redeem("tkt_unknown")).toBeNull();
});

test("a ticket lives for 60 seconds, and never longer than the token that asked for it", () => {
  let now = 1000;
  const tickets = createTickets({ clock: () => now });
  const minted = [principal(), principal({ expiresAt: 31_000 }), principal()].map((who) => tickets.mint(who));
  expect(minted.map(({ expiresAt }) => expiresAt)).toEqual([1000 + TICKET_LIFETIME_MS, 31_000, 1000 + TICKET_LIFETIME_MS]);
  now = 31_000;
  expect(tickets.redeem(minted[1]?.ticket ?? "")).toBeNull();
  now = 1000 + TICKET_LIFETIME_MS - 1;
  expect(tickets.redeem(minted[0]?.ticket ?? "")).not.toBeNull();
  now += 1;
  expect(tickets.redeem(minted[2]?.ticket ?? "")).toBeNull();
});

test("a tenant that hoards tickets is refused until they expire, and takes nothing from another", () => {
  let now = 0;
  const tickets = createTickets({ clock: () => now });
  for (let count = 0; count < MAX_TICKETS_PER_TENANT; count += 1) tickets.mint(principal());
  expect(() => tickets.mint(principal())).toThrow(expect.objectContaining({ code: "overloaded" }));
  tickets.mint(principal({ tenant: "other" }));
  now += TICKET_LIFETIME_MS;
  tickets.mint(principal());
});

test("the tickets of a principal whose token is taken back are worth nothing; others stay", () => {
  const tickets = createTickets();
  const [gone, kept] = [principal(), principal()];
  const minted = [gone, kept, gone].map((who) => tickets.mint(who).ticket);
  tickets.withdraw(gone);
  expect(minted.map((ticket) => tickets.redeem(ticket))).toEqual([null, kept, null]);
});
