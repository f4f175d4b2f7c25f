/** A message of the PostgreSQL protocol. */
export interface Message {
  /** Its type, for example `Q`; null for the first message of a client, which has none. */
  type: string | null;
  /** The content without type and length. */
  body: Buffer;
  /** All its bytes. */
  bytes: Buffer;
}

/** Splits the bytes from one side into complete messages. The first message of a client has no type. */
export function createMessageReader({ isClient }: { isClient: boolean }): (chunk: Buffer) => Message[] {
  let rest: Buffer = Buffer.alloc(0);
  let isFirst = isClient;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    const messages: Message[] = [];
    for (;;) {
      const typeLength = isFirst ? 0 : 1;
      if (rest.length < typeLength + 4) return messages;
      const end = typeLength + rest.readUInt32BE(typeLength);
      if (rest.length < end) return messages;
      const type = isFirst ? null : String.fromCharCode(rest[0] as number);
      messages.push({ type, body: rest.subarray(typeLength + 4, end), bytes: rest.subarray(0, end) });
      rest = rest.subarray(end);
      isFirst = false;
    }
  };
}

/** Whether a message of a client requests a commit: at the end of a simple query, or by preparing an unnamed statement. */
export function isCommitRequest({ type, body }: Message): boolean {
  const text = body.toString("utf8");
  return (type === "Q" && /(^|; )COMMIT\0$/.test(text)) || (type === "P" && text.startsWith("\0COMMIT\0"));
}

/** Whether a message of the server reports that a transaction was committed. */
export const isCommitReply = ({ type, body }: Message): boolean => type === "C" && body.toString("utf8") === "COMMIT\0";
