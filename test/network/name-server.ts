import { createSocket } from "node:dgram";
import { once } from "node:events";

/** The response of a name server for a name: addresses, no such name, a server failure, or no response. */
export type Zone = (name: string, kind: "A" | "AAAA") => readonly string[] | "unknown" | "failed" | "silent";

const kinds: Readonly<Record<number, "A" | "AAAA">> = { 1: "A", 28: "AAAA" };
const codes = { unknown: 3, failed: 2 };

/** Starts a name server on a free UDP port of 127.0.0.1. It records its queries. */
export async function startNameServer(zone: Zone, { ttlSeconds = 0 } = {}) {
  const questions: { name: string; kind: "A" | "AAAA" }[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) => {
    const { name, kind, end } = readQuestion(query);
    questions.push({ name, kind });
    const answer = zone(name, kind);
    if (answer === "silent") return;
    const records = typeof answer === "string" ? [] : answer.map((text) => toRecord(text, ttlSeconds));
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(0x8180 | (typeof answer === "string" ? codes[answer] : 0), 2);
    head.writeUInt16BE(records.length, 6);
    head.writeUInt32BE(0, 8);
    socket.send(Buffer.concat([head, query.subarray(12, end), ...records]), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return { server: `127.0.0.1:${socket.address().port}`, questions, close: () => void socket.close() };
}

function readQuestion(query: Buffer): { name: string; kind: "A" | "AAAA"; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] as number; length > 0; length = query[at] as number) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join("."), kind: kinds[query.readUInt16BE(at + 1)] as "A" | "AAAA", end: at + 5 };
}

/** An address record of the name in the question. */
function toRecord(address: string, ttlSeconds: number): Buffer {
  const isV6 = address.includes(":");
  const data = isV6 ? Buffer.from(toGroups(address), "hex") : Buffer.from(address.split(".").map(Number));
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(isV6 ? 28 : 1, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(ttlSeconds, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function toGroups(address: string): string {
  const [left = "", right = ""] = address.split("::").map((side) =>
    side
      .split(":")
      .filter(Boolean)
      .map((group) => group.padStart(4, "0"))
      .join(""),
  );
  return left + right.padStart(32 - left.length, "0");
}
