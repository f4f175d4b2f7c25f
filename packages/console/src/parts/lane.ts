import { html, nothing, svg, type TemplateResult } from "lit";
import { formatDuration } from "../format.ts";
import { axisTicks } from "../timeline-rows.ts";

/** A time axis in milliseconds. */
export interface Axis {
  /** Milliseconds since 1970. */
  start: number;
  length: number;
}

interface Bar {
  label: string;
  /** A class of the bar, such as `failed`. */
  kind?: string;
  /** The part of the time in which it waited for a person. */
  wait?: readonly [from: number, to: number] | null;
}

/** Shows when something ran on a time axis. */
export function lane({ start, length }: Axis, from: number, to: number, { label, kind = "", wait = null }: Bar): TemplateResult {
  const percent = (at: number): number => Math.min(100, Math.max(0, ((at - start) / length) * 100));
  const bar = (first: number, last: number, shownAs: string): TemplateResult => {
    const [left, right] = [percent(first), percent(last)];
    // The second rectangle keeps a short bar visible. At the end of the axis, it extends to the left.
    return svg`<g class="bar ${shownAs}"><rect x="${left}%" width="${right - left}%" /><rect
      class="least ${left > 50 ? "late" : ""}" x="${left > 50 ? right : left}%" /></g>`;
  };
  return html`<svg class="lane" role="img" aria-label=${label}>
    <rect class="track" width="100%" />
    ${bar(from, to, kind)} ${wait === null ? nothing : bar(...wait, "wait")}
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
