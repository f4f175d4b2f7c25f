import { readFileSync, statSync } from "node:fs";
import type { z } from "zod";
import { withoutByteOrderMark } from "#contract";
import { ConfigError } from "./errors.ts";
import { toFieldErrors } from "./requests/field-errors.ts";
import { findJsonPosition } from "./requests/find-json-position.ts";

/** Options of `openReloadedFile`. */
export interface ReloadedFileOptions<Entry, Content> {
  file: string;
  /** The setting that names the file, for faults. */
  setting: string;
  /** The schema of the entries, which are a JSON array. */
  schema: z.ZodType<Entry[]>;
  /** A valid file, for faults. */
  example: string;
  /** Converts the entries. `before` is the last valid content. Throws ConfigError if they contradict each other. */
  toContent(entries: readonly Entry[], before: Content | null): Content;
  pollMs: number;
  /** Called after the content has changed. */
  onReloaded(content: Content, before: Content): void;
  /** Called when a new version is not valid, so that the last valid one stays in force. */
  onInvalid(faults: readonly string[]): void;
}

/**
 * Reads a JSON file of the operator now and again after each change. Throws ConfigError if the file is not valid now; if it is not valid
 * later, the last valid version stays in force. Changes are detected by polling the file's metadata, because file watchers miss replaced
 * symbolic links and changes on network file systems.
 */
export function openReloadedFile<Entry, Content>(options: ReloadedFileOptions<Entry, Content>) {
  const { file, toContent, pollMs, onReloaded, onInvalid } = options;
  // Read before the content, so that a write between the two reads counts as a change.
  let lastState = readFileState(file);
  let content = toContent(readEntries(options), null);
  const timer = setInterval(() => {
    const state = readFileState(file);
    if (state === lastState) return;
    const before = content;
    try {
      content = toContent(readEntries(options), before);
      lastState = state;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      // After a descriptor shortage, the next poll reads the file again.
      if (!(error instanceof DescriptorShortage)) lastState = state;
      onInvalid(error.faults);
      return;
    }
    onReloaded(content, before);
  }, pollMs);
  timer.unref();
  return {
    /** The last valid version. */
    content: () => content,
    close: () => clearInterval(timer),
  };
}

/** Formats a fault of a field of a file, such as `0.url is required`. `entries` is the content of the file, which may not be valid. */
export function formatFault({ setting, entries }: { setting: string; entries: readonly unknown[] }, path: string, message: string): string {
  const [index = "", field] = path.split(".");
  const { name } = (index === "" ? {} : (entries[Number(index)] ?? {})) as { name?: unknown };
  // The index alone does not help in a long file.
  const isNamed = field !== "name" && typeof name === "string" && name !== "" && name.length <= MAX_SHOWN_NAME_CHARACTERS;
  return `${setting}: ${path === "" ? "" : `${path} `}${message}${isNamed ? ` (entry ${JSON.stringify(name)})` : ""}`;
}

const MAX_SHOWN_NAME_CHARACTERS = 128;

/** Returns a text that differs after every change of the file. */
function readFileState(file: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

type Source<Entry> = Pick<ReloadedFileOptions<Entry, unknown>, "file" | "setting" | "schema" | "example">;

function readEntries<Entry>({ file, setting, schema, example }: Source<Entry>): Entry[] {
  const text = readText(file, setting);
  let json: unknown;
  try {
    json = JSON.parse(withoutByteOrderMark(text));
  } catch (error) {
    throw new ConfigError([`${setting}: is not valid JSON${findJsonPosition(error as Error)}`]);
  }
  if (!Array.isArray(json)) throw new ConfigError([`${setting}: must be an array, for example ${example}`]);
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw new ConfigError(
    toFieldErrors(parsed.error.issues, { schema }).map(({ path, message }) => formatFault({ setting, entries: json }, path, message)),
  );
}

function readText(file: string, setting: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const faults = [`${setting}: cannot be read (${code})`];
    throw code === "EMFILE" || code === "ENFILE" ? new DescriptorShortage(faults) : new ConfigError(faults);
  }
}

/** The file could not be read because all file descriptors are in use. */
class DescriptorShortage extends ConfigError {}
