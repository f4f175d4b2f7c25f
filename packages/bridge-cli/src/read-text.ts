import { isUtf8 } from "node:buffer";
import { buffer } from "node:stream/consumers";
import { CommandError } from "./command-error.ts";

/** Reads a stream to its end as UTF-8. `source` names it in the error for other bytes. Throws CommandError. */
export const readAll = async (stream: NodeJS.ReadStream, source = "Standard input"): Promise<string> =>
  decodeText(await buffer(stream), source);

/** Decodes UTF-8. Throws CommandError for other bytes, because a lenient decoder would replace them with U+FFFD. */
export function decodeText(bytes: Buffer, source: string): string {
  if (isUtf8(bytes)) return bytes.toString("utf8");
  throw new CommandError("usage", `${source} is not UTF-8 text.`, {
    hint: "Convert it, for example with: iconv -f ISO-8859-1 -t UTF-8. To send the bytes of a file as they are, use --file.",
  });
}
