import { html, svg, type TemplateResult } from "lit";
import { formatDuration } from "../format.ts";
import { axisTicks } from "../timeline-rows.ts";

/** A time axis in milliseconds. */
export interface Axis {
  /** Milliseconds since 1970. */
  start: number;
  length: number;
}

/** Shows when something ran on a time axis. `kind` is a class of the bar, such as `failed`. */
export function lane(
  { start, length }: Axis,
  from: number,
  to: number,
  { label, kind = "" }: { label: string; kind?: string },
): TemplateResult {
  const percent = (at: number): number => Math.min(100, Math.max(0, ((at - start) / length) * 100));
  return html`<svg class="lane" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label=${label}>
    <rect class="track" width="100" height="8" />
    <rect class="bar ${kind}" x=${Math.min(99, percent(from))} width=${Math.max(1, percent(to) - percent(from))} height="8" />
  </svg>`;
}

/** Labels the common axis of the lanes, with a line through all of them for each label. */
export function axisLines({ length }: Axis): TemplateResult {
  return html`<svg class="axis" aria-hidden="true">
    ${axisTicks(length).map((tick) => {
      const at = `${(100 * tick) / length}%`;
      return svg`<line x1=${at} x2=${at} y1="20" y2="100%" /><text x=${at} y="13">${tick === 0 ? "0" : formatDuration(tick)}</text>`;
    })}
  </svg>`;
}
