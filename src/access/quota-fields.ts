import { z } from "zod";
import { expected } from "#contract";
import type { TenantQuota } from "../task.ts";

const isWeight = (value: unknown): boolean => typeof value === "number" && value >= 0.01 && value <= 1000;

const limit = (max: number) => {
  const isLimit = (value: unknown): boolean => value === "off" || (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= max);
  return z
    .custom<number | "off">(isLimit, expected(`"off" or a whole number from 1 to ${max}`))
    .transform((value) => (value === "off" ? null : value))
    .optional();
};

/** Schemas of the token fields that set the quota of the token's tenant. */
export const quotaFields = {
  weight: z.custom<number>(isWeight, expected("a number from 0.01 to 1000")).optional(),
  queueLimit: limit(10_000_000),
  maxRunning: limit(1_000_000),
  agentQueueLimit: limit(10_000_000),
  agentMaxRunning: limit(1_000_000),
} satisfies Record<keyof TenantQuota, z.ZodType>;

const names = Object.keys(quotaFields) as (keyof TenantQuota)[];
type Fields = { readonly [Name in keyof TenantQuota]?: number | null | undefined };

/**
 * Collects the quotas that tokens set for their tenants. Tokens of one tenant may repeat a value or leave it out;
 * `onConflict` is called for each value that differs from that of an earlier token.
 */
export function collectQuotas(
  tokens: readonly (Fields & { tenant: string })[],
  onConflict: (index: number, name: keyof TenantQuota, message: string) => void,
): Map<string, Partial<TenantQuota>> {
  const quotas = new Map<string, { [Name in keyof TenantQuota]?: number | null }>();
  for (const [index, token] of tokens.entries()) {
    const quota = quotas.get(token.tenant) ?? {};
    quotas.set(token.tenant, quota);
    for (const name of names) {
      const [value, earlier] = [token[name], quota[name]];
      if (value === undefined || value === earlier) continue;
      if (earlier === undefined) quota[name] = value;
      else
        onConflict(
          index,
          name,
          `is ${value ?? "off"}, but an earlier token of the tenant ${token.tenant} has ${earlier ?? "off"}; make them equal`,
        );
    }
  }
  return quotas as Map<string, Partial<TenantQuota>>;
}
