import path from "node:path";

/** The name by which the program was started: `brg`, or otherwise `bridge`. */
export const programName = (): string => (path.basename(process.argv[1] ?? "") === "brg" ? "brg" : "bridge");
