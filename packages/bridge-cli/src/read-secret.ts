import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { CommandError } from "./command-error.ts";
import type { Output } from "./output.ts";

/** Reads a line from the terminal without showing it. */
export function readSecret(question: string, stdin: NodeJS.ReadStream, output: Pick<Output, "warn">): Promise<string> {
  return new Promise((resolve, reject) => {
    const discarded = new Writable({ write: (_chunk, _encoding, done) => done() });
    // With `terminal`, the terminal shows nothing that the reader does not write.
    const lines = createInterface({ input: stdin, output: discarded, terminal: true });
    // The question comes after that, because the answer is typed as soon as it shows.
    output.warn(question);
    lines.once("line", (line) => {
      resolve(line);
      lines.close();
    });
    lines.once("SIGINT", () => lines.close());
    lines.once("close", () => reject(new CommandError("interrupted", "Interrupted.")));
  });
}
