import { expect, test } from "vitest";
import { chooseRequestId } from "../../../src/http/wire/request-id.ts";

const choose = (given: string | string[] | undefined) => chooseRequestId({ headers: { "x-request-id": given as string } });

test.each(["a", "abc-123", "two words", "x".repeat(128), "~!@#"])("the request id %s is accepted", (given) => {
  expect(choose(given)).toBe(given);
});

test.each([undefined, "", " ", "x".repeat(129), "ä", "a\nb", "a\0", " padded ", ["a", "b"]])("the request id %j is replaced", (given) => {
  expect(choose(given)).toMatch(/^[0-9a-f-]{36}$/);
  expect(choose(given)).not.toBe(choose(given));
});
