/** The colors of one theme. */
export interface Palette {
  background: string;
  border: string;
  text: string;
  heading: string;
  muted: string;
  event: string;
  good: string;
}

/** Colors whose contrast with the background is at least 4.5. */
export const palettes = {
  light: {
    background: "#ffffff",
    border: "#d0d7de",
    text: "#24292f",
    heading: "#0a0c10",
    muted: "#57606a",
    event: "#0550ae",
    good: "#116329",
  },
  dark: {
    background: "#0d1117",
    border: "#30363d",
    text: "#c9d1d9",
    heading: "#f0f6fc",
    muted: "#8b949e",
    event: "#79c0ff",
    good: "#56d364",
  },
} as const satisfies Record<string, Palette>;

const FONT_SIZE = 13;
const LINE_HEIGHT = 19;
const COLUMN_WIDTH = 7.83;
const COLUMNS = 100;
const PADDING = 20;
/** Pauses before a line, in seconds: so that a person can read the lines as they appear. */
const LINE_PAUSE = 0.35;
const HEADING_PAUSE = 1;
/** The complete output stays for this time before the animation starts again. */
const HOLD_SECONDS = 8;
/** The animation begins this long before its end, so that its first frame is complete. */
const FIRST_HOLD_SECONDS = 3;

/** Options of `drawCast`. */
export interface CastOptions {
  palette: Palette;
  /** Describes the picture to people who do not see it. */
  label: string;
}

/**
 * Draws the lines of a terminal as an SVG in which they appear one after the other, again and again. Without animation, all lines are
 * visible.
 */
export function drawCast(lines: readonly string[], { palette, label }: CastOptions): string {
  const times = listTimes(lines);
  const duration = (times.at(-1) ?? 0) + HOLD_SECONDS;
  const [width, height] = [Math.round(COLUMNS * COLUMN_WIDTH + 2 * PADDING), lines.length * LINE_HEIGHT + 2 * PADDING];
  const texts = lines.map((line, index) => {
    if (line === "") return "";
    const y = PADDING + (index + 0.75) * LINE_HEIGHT;
    return `<text class="l${index}" x="${PADDING}" y="${y}">${drawSpans(line)}</text>\n`;
  });
  // A line becomes visible in one step. Each line needs its keyframes, because all lines disappear at the same time.
  const animations = times.map((time, index) => {
    if (lines[index] === "") return "";
    const percent = ((time / duration) * 100).toFixed(2);
    return `@keyframes l${index}{0%,${percent}%{opacity:0}${(Number(percent) + 0.01).toFixed(2)}%,100%{opacity:1}}.l${index}{animation:l${index} ${duration.toFixed(2)}s ${(FIRST_HOLD_SECONDS - duration).toFixed(2)}s infinite}\n`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${label}">
<style>
text{font:${FONT_SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre;fill:${palette.text}}
.h{font-weight:bold;fill:${palette.heading}}.m{fill:${palette.muted}}.e{fill:${palette.event}}.g{fill:${palette.good}}
@media (prefers-reduced-motion:no-preference){
${animations.join("")}}
</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8" fill="${palette.background}" stroke="${palette.border}"/>
${texts.join("")}</svg>
`;
}

/** Returns the time of each line, in seconds. */
function listTimes(lines: readonly string[]): number[] {
  let time = 0;
  return lines.map((line, index) => {
    if (index > 0 && line !== "") time += isHeading(line) ? HEADING_PAUSE : LINE_PAUSE;
    return time;
  });
}

const isHeading = (line: string): boolean => /^[A-Z]/.test(line);

/** Parts of a line that have a color: time and number of an event, its type, and what succeeded. */
const PARTS: readonly (readonly [pattern: RegExp, style: string])[] = [
  [/^\$ .+/, "h"],
  [/^[A-Z].*/, "h"],
  [/^ {2}\+\S+ s/, "m"],
  [/^ +#\d+ /, "m"],
  [/^ *(POST|execution\.\w+|tool\.\w+|assistant\.\w+)/, "e"],
  [/^ *(200|202|signature ok|status ok)/, "g"],
];

function drawSpans(line: string): string {
  let rest = line;
  let spans = "";
  for (const [pattern, style] of PARTS) {
    const [part] = pattern.exec(rest) ?? [];
    if (part === undefined) continue;
    spans += `<tspan class="${style}">${escapeXml(part)}</tspan>`;
    rest = rest.slice(part.length);
  }
  return spans + escapeXml(rest);
}

/** Spaces are written as no-break spaces, because some renderers ignore `white-space`. */
const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll(" ", "\u00a0");
