import { once } from "node:events";
import { text } from "node:stream/consumers";

/** Prints a line repeatedly up to a number of bytes: its message is `{line, bytes}`, the line in base64. */
const { message } = JSON.parse(await text(process.stdin)) as { message: string };
const { line, bytes } = JSON.parse(message) as { line: string; bytes: number };
const one = Buffer.from(line, "base64");
const block = Buffer.concat(Array.from({ length: Math.ceil(65_536 / one.length) }, () => one));
process.stdout.on("error", () => process.exit(1));
for (let left = Math.floor(bytes / one.length) * one.length; left > 0; left -= block.length) {
  if (!process.stdout.write(block.subarray(0, left))) await once(process.stdout, "drain");
}
