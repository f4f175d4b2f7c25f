/**
 * Creates the listeners that gather what a program prints, read as Latin-1, as bytes. A string for each line would take many times the
 * memory if lines are short.
 */
export function collectStdout() {
  const chunks: Buffer[] = [];
  let text = "";
  const flush = (): void => {
    chunks.push(Buffer.from(text, "latin1"));
    text = "";
  };
  return {
    onLine(line: string, isEnded: boolean): void {
      text += isEnded ? `${line}\n` : line;
    },
    onChunkEnd: flush,
    /** Returns all bytes, after the program has ended. */
    toBuffer(): Buffer {
      flush();
      return Buffer.concat(chunks);
    },
  };
}
