import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { readSigningKeys, signCallback } from "../../src/posts/sign.ts";
import { anyCharacter } from "../support/any-character.ts";

const secrets = [24, 64].map((size) => `whsec_${Buffer.alloc(size, size).toString("base64")}`);
const keys = readSigningKeys(secrets);

describe("signCallback", () => {
  test("signCallback returns the signature of the example in the specification", () => {
    const secret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
    const body = Buffer.from('{"email":"test@example.com","username":"test_user"}');
    const reference = new Webhook(secret).sign("msg_27UH4WbU6Z5A5EzD8u03UvzRbpk", new Date(1_649_367_553_000), body.toString());
    expect(signCallback({ id: "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk", timestampSeconds: 1_649_367_553, body }, readSigningKeys([secret]))).toBe(
      reference,
    );
    expect(reference).toBe("v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=");
  });

  test("signCallback returns signatures that each secret verifies, for any body", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        const timestampSeconds = Math.floor(Date.now() / 1000);
        const body = Buffer.from(JSON.stringify({ text }));
        const headers = {
          "webhook-id": "msg_1",
          "webhook-timestamp": String(timestampSeconds),
          "webhook-signature": signCallback({ id: "msg_1", timestampSeconds, body }, keys),
        };
        for (const secret of secrets) expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body.toString()));
      }),
      { numRuns: 50 },
    );
  });

  test("signCallback returns signatures that another secret, id or body does not verify", () => {
    const timestampSeconds = Math.floor(Date.now() / 1000);
    const body = Buffer.from("{}");
    const headers = {
      "webhook-id": "msg_1",
      "webhook-timestamp": String(timestampSeconds),
      "webhook-signature": signCallback({ id: "msg_1", timestampSeconds, body }, keys),
    };
    const known = new Webhook(secrets[0] as string);
    expect(() => new Webhook(Buffer.alloc(32, 9).toString("base64")).verify("{}", headers)).toThrow("No matching signature");
    expect(() => known.verify("{}", { ...headers, "webhook-id": "msg_2" })).toThrow("No matching signature");
    expect(() => known.verify("{ }", headers)).toThrow("No matching signature");
  });
});
