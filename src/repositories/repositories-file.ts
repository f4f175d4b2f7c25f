import path from "node:path";
import type { Logger } from "pino";
import { z } from "zod";
import { ConfigError } from "../errors.ts";
import { formatFault, openReloadedFile } from "../reloaded-file.ts";
import type { Repository } from "./repository.ts";

/** Options of `openRepositoriesFile`. */
export interface RepositoriesFileOptions {
  file: string;
  logger: Logger;
  pollMs: number;
}

/**
 * Reads the file of repositories now and again after each change. Throws ConfigError if the file is not valid now; if it is not valid
 * later, the repositories of the last valid version stay in force.
 */
export function openRepositoriesFile({ file, logger, pollMs }: RepositoriesFileOptions) {
  let faults: readonly string[] = [];
  const reloaded = openReloadedFile<Repository, readonly Repository[]>({
    ...{ file, schema, pollMs, setting: SETTING, example: EXAMPLE },
    toContent: rejectRepeatedNames,
    onInvalid(found) {
      faults = found;
      logger.error({ faults }, "repositories file is not valid, previous repositories stay in force");
    },
    onReloaded(repositories) {
      faults = [];
      logger.info({ repositories: repositories.map(({ name }) => name) }, "repositories file reloaded");
    },
  });
  return {
    /** The repositories of the last valid version. */
    repositories: reloaded.content,
    /** The faults of the newest version; empty if it is valid. */
    faults: (): readonly string[] => faults,
    close: reloaded.close,
  };
}

/** The protocols by which git can reach a source. */
const protocols = ["file", "https", "http", "ssh", "git"] as const;

/** Returns the only protocol that git may use for a source; null if git has no safe one for it. */
export function protocolOf(source: string): (typeof protocols)[number] | null {
  if (path.isAbsolute(source)) return "file";
  if (USER_AT_HOST.test(source)) return "ssh";
  return protocols.find((protocol) => source.startsWith(`${protocol}://`) && source.length > protocol.length + 3) ?? null;
}

/** The short form of an SSH address, such as `git@github.com:owner/name.git`. */
const USER_AT_HOST = /^[A-Za-z0-9_][A-Za-z0-9_.-]*@[A-Za-z0-9][A-Za-z0-9.-]*:(?![:-])\S+$/;

const SETTING = "BRIDGE_REPOSITORIES_FILE";
const EXAMPLE = '[{"name":"web","source":"https://github.com/example/web.git"}]';
const MAX_REPOSITORIES = 1000;
const MAX_TENANTS = 1000;
const MAX_ARGUMENTS = 100;
const MAX_SETUP_SECONDS = 3600;
const MAX_TEXT = 4096;

const text = z
  .string()
  .min(1)
  .max(MAX_TEXT)
  .refine((value) => !/\p{Cc}/u.test(value), "must not contain control characters");

const schema: z.ZodType<Repository[]> = z
  .array(
    z.strictObject({
      name: z.string().regex(/^[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/, {
        error: "must be 1 to 64 letters, digits, dots, hyphens or underscores, and begin and end with a letter or digit",
      }),
      source: text.refine((source) => protocolOf(source) !== null, {
        error: "must be an absolute path, or a URL that begins with https://, http://, ssh://, git:// or file://, or user@host:path",
      }),
      tenants: z.array(text).min(1).max(MAX_TENANTS).nullable().default(null),
      push: z.boolean().default(false),
      defaultRef: text.default("HEAD"),
      setup: z.array(text).min(1).max(MAX_ARGUMENTS).nullable().default(null),
      setupSeconds: z.int().min(1).max(MAX_SETUP_SECONDS).default(300),
    }),
  )
  .max(MAX_REPOSITORIES);

/** Names are compared without case, because each names a directory. */
function rejectRepeatedNames(entries: readonly Repository[]): readonly Repository[] {
  const names = new Set<string>();
  const faults = entries.flatMap(({ name }, index) => {
    const isRepeated = names.has(name.toLowerCase());
    names.add(name.toLowerCase());
    const message = `${name} is the name of another repository; choose a unique name`;
    return isRepeated ? [formatFault({ setting: SETTING, entries }, `${index}.name`, message)] : [];
  });
  if (faults.length > 0) throw new ConfigError(faults);
  return entries;
}
