import { describe, expect, test } from "vitest";
import type { NewTicket } from "../../../src/store/access/interface.ts";
import { createOpen, type StoreSubject } from "./fixtures.ts";

/** Checks tickets and sessions in a storage engine. */
export function accessConformance(subject: StoreSubject): void {
  const open = createOpen(subject);

  describe(`store: ${subject.name}`, () => {
    describe("tickets", () => {
      const ticket = (hash: string, fields: Partial<NewTicket> = {}): NewTicket => ({
        ...{ hash, principal: "ci", tenant: "default", scopes: ["read", "approve"], tokenProof: "proof", tokenExpiresAt: null, ...fields },
      });

      test("tickets are redeemed once, also after a reopen, and return everything that was stored for them", async () => {
        const { store, reopen } = await open(() => 1_000);
        expect(await store.insertTicketIfRoom(ticket("a"), 9)).toBe(61_000);
        expect(await store.insertTicketIfRoom(ticket("b", { tokenExpiresAt: 2_000, scopes: [] }), 9)).toBe(2_000);
        const again = await reopen();
        const { principal, tenant, scopes, tokenProof } = ticket("a");
        const both = await Promise.all([again.redeemTicket("a"), again.redeemTicket("a")]);
        expect(both).toContainEqual({ principal, tenant, scopes, tokenProof });
        expect(both).toContain(null);
        expect(await again.redeemTicket("b")).toMatchObject({ scopes: [] });
        expect(await again.redeemTicket("absent")).toBeNull();
      });

      test("tickets are limited per tenant, and expired tickets do not count", async () => {
        let now = 0;
        const { store } = await open(() => now);
        const many = await Promise.all(["a", "b", "c"].map((hash) => store.insertTicketIfRoom(ticket(hash), 2)));
        expect(many).toEqual([60_000, 60_000, null]);
        expect(await store.insertTicketIfRoom(ticket("d", { tenant: "other" }), 2)).toBe(60_000);
        now = 60_000;
        expect(await store.insertTicketIfRoom(ticket("e"), 1)).toBe(120_000);
      });

      test("tickets expire, and retention deletes expired ones", async () => {
        let now = 0;
        const { store } = await open(() => now);
        for (const hash of ["a", "b"]) await store.insertTicketIfRoom(ticket(hash), 9);
        await store.insertTicketIfRoom(ticket("brief", { tokenExpiresAt: 10_000 }), 9);
        expect(await store.prune(1_000, 100)).toBe(0);
        now = 10_000;
        expect([await store.prune(1_000, 100), await store.redeemTicket("brief")]).toEqual([1, null]);
        now = 60_000;
        expect(await store.redeemTicket("a")).toBeNull();
        expect([await store.prune(1_000, 100), await store.prune(1_000, 100)]).toEqual([1, 0]);
      });
    });

    describe("sessions", () => {
      const hours = 3_600_000;
      const session = (hash: string, fields: Partial<NewTicket> = {}): NewTicket => ({
        ...{ hash, principal: "ci", tenant: "default", scopes: ["read", "approve"], tokenProof: "proof", tokenExpiresAt: null, ...fields },
      });

      test("sessions are found until they expire or are deleted, also after a reopen, and retention deletes expired ones", async () => {
        let now = 1_000;
        const { store, reopen } = await open(() => now);
        expect(await store.insertSession(session("a"), 9)).toBe(1_000 + 12 * hours);
        expect(await store.insertSession(session("b", { tokenExpiresAt: 2_000, scopes: [] }), 9)).toBe(2_000);
        const again = await reopen();
        const { principal, tenant, scopes, tokenProof } = session("a");
        for (let read = 0; read < 2; read += 1)
          expect(await again.findSession("a")).toEqual({ principal, tenant, scopes, tokenProof, expiresAt: 1_000 + 12 * hours });
        for (const hash of ["absent", "A", "a\0", ""]) expect(await again.findSession(hash)).toBeNull();
        now = 2_000;
        expect([await again.findSession("b"), await again.prune(1_000, 100)]).toEqual([null, 1]);
        expect([await again.deleteSession("a"), await again.deleteSession("a")]).toEqual([true, false]);
        expect(await again.findSession("a")).toBeNull();
      });

      test("sessions are limited per principal to the newest ones, and those of before a set-back clock do not count", async () => {
        let now = 20 * hours;
        const { store } = await open(() => now);
        const found = async (...hashes: string[]) => {
          const all = await Promise.all(hashes.map((hash) => store.findSession(hash)));
          return hashes.filter((_, index) => all[index] !== null);
        };
        await store.insertSession(session("a"), 2);
        await store.insertSession(session("p", { principal: "other" }), 2);
        await store.insertSession(session("t", { tenant: "other" }), 2);
        for (const hash of ["b", "c"]) {
          now += 1;
          expect(await store.insertSession(session(hash), 2)).toBe(now + 12 * hours);
        }
        expect(await found("a", "b", "c", "p", "t")).toEqual(["b", "c", "p", "t"]);
        now = 0;
        expect(await found("b", "c")).toEqual([]);
        for (const hash of ["d", "e"]) expect(await store.insertSession(session(hash), 2)).toBe(12 * hours);
        expect(await found("d", "e")).toEqual(["d", "e"]);
      });
    });
  });
}
