import type { Logger } from "pino";
import { z } from "zod";
import { callbackSecret } from "../config/value-schemas.ts";
import { ConfigError } from "../errors.ts";
import { readSigningKeys } from "../posts/sign.ts";
import { formatFault, openReloadedFile } from "../reloaded-file.ts";
import { defaultTypes, type Subscription, webhookTypes } from "./subscription.ts";

/** Options of `openWebhooksFile`. */
export interface WebhooksFileOptions {
  file: string;
  /** Checks a URL. Returns a fault to append to the name of its field, or null. */
  checkUrl(url: string): string | null;
  logger: Logger;
  pollMs: number;
  /** Called after the webhooks have changed. */
  onReloaded(): void;
}

/**
 * Reads the file of webhooks now and again after each change. Throws ConfigError if the file is not valid now; if it is not valid later,
 * the webhooks of the last valid version stay in force.
 */
export function openWebhooksFile({ file, checkUrl, logger, pollMs, onReloaded }: WebhooksFileOptions) {
  const reloaded = openReloadedFile<Entry, readonly Subscription[]>({
    ...{ file, schema, pollMs, setting: SETTING, example: EXAMPLE },
    toContent: (entries) => toSubscriptions(entries, checkUrl),
    onInvalid: (faults) => logger.error({ faults }, "webhooks file is not valid, previous webhooks stay in force"),
    onReloaded(webhooks) {
      logger.info({ webhooks: webhooks.map(({ name }) => name) }, "webhooks file reloaded");
      onReloaded();
    },
  });
  return {
    /** The webhooks of the last valid version. */
    subscriptions: reloaded.content,
    close: reloaded.close,
  };
}

const SETTING = "BRIDGE_WEBHOOKS_FILE";
const EXAMPLE = '[{"name":"oncall","url":"https://notify.example/bridge","secrets":["whsec_<24 to 64 bytes in base64>"]}]';

const MAX_WEBHOOKS = 100;
/** Headers that Bridge or the protocol sets. */
const RESERVED_HEADER =
  /^(webhook-.*|content-.*|host|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|user-agent|proxy-.*)$/i;

const name = z.string().regex(/^[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/, {
  error: "must be 1 to 64 letters, digits, dots, hyphens or underscores, and begin and end with a letter or digit",
});
const headers = z.record(
  z
    .string()
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/, "must be the name of a header")
    .refine((header) => !RESERVED_HEADER.test(header), "must not be a header that Bridge or HTTP sets"),
  z.string().regex(/^[\x20-\x7e]{0,4096}$/, "must be up to 4096 printable ASCII characters"),
);
const schema = z
  .array(
    z.strictObject({
      name,
      tenant: z
        .string()
        .regex(/^[A-Za-z0-9_-]{1,128}$/, "must be 1 to 128 of A-Z a-z 0-9 _ -")
        .default("default"),
      url: z.string(),
      types: z
        .array(z.enum(webhookTypes))
        .min(1)
        .default([...defaultTypes]),
      filter: z
        .strictObject({
          agentId: z.string().min(1).optional(),
          provider: z.string().min(1).optional(),
          labels: z.record(z.string(), z.string()).optional(),
        })
        .default({}),
      secrets: z.array(callbackSecret).min(1),
      headers: headers.default({}),
    }),
  )
  .max(MAX_WEBHOOKS);
type Entry = z.infer<typeof schema>[number];

function toSubscriptions(entries: readonly Entry[], checkUrl: WebhooksFileOptions["checkUrl"]): Subscription[] {
  const faults: string[] = [];
  const addFault = (path: string, message: string): void => void faults.push(formatFault({ setting: SETTING, entries }, path, message));
  const names = new Set<string>();
  const subscriptions = entries.map(({ secrets, types, ...entry }, index): Subscription => {
    const urlFault = checkUrl(entry.url);
    if (urlFault !== null) addFault(`${index}.url`, urlFault);
    if (names.has(entry.name)) addFault(`${index}.name`, `${entry.name} is the name of another webhook; choose a unique name`);
    names.add(entry.name);
    return { ...entry, types: [...new Set(types)], signingKeys: readSigningKeys(secrets) };
  });
  if (faults.length > 0) throw new ConfigError(faults);
  return subscriptions;
}
