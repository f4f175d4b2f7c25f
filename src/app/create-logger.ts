import { type DestinationStream, type Logger, type LoggerOptions, pino } from "pino";
import { escapeHidden } from "./escape-hidden.ts";

/** Creates the logger of Bridge, which writes one line of JSON for each message, or what `format` makes of this line. */
export const createLogger = (
  level: NonNullable<LoggerOptions["level"]>,
  destination: DestinationStream,
  format: (line: string) => string = escapeHidden,
): Logger =>
  pino(
    {
      level,
      redact: ["req.headers.authorization", "*.apiKey", "*.token", "env"],
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      hooks: { streamWrite: format },
    },
    destination,
  );
