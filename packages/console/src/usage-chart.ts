import uPlot from "uplot";

/** Bars of several parts over time. */
export interface Bars {
  /** Starts of the bars, in seconds since the epoch. */
  times: number[];
  /** Width of a bar in seconds. */
  stepSeconds: number;
  /** The parts, from the bottom to the top, each with one value per bar. Null: unknown. */
  parts: { color: string; values: (number | null)[] }[];
  /** Color of the axes and of their labels. */
  color: string;
  /** Color of the lines behind the bars. */
  lineColor: string;
  /** Formats a value of the vertical axis. */
  format(value: number): string;
  /** Called with the index of the bar under the pointer; null when the pointer leaves. */
  onPoint(index: number | null): void;
  /** Called with the index of a bar that a person clicks. */
  onClick(index: number): void;
}

/** Bars that are drawn. */
export interface DrawnBars {
  /** Marks a bar, or none. Returns where it is, in pixels from the left of the element. */
  mark(index: number | null): { start: number; end: number };
  remove(): void;
}

const HEIGHT = 190;
const DAY_SECONDS = 24 * 3600;
/** Bars between two labels of the time axis. */
const STEPS = { hours: [1, 2, 3, 6, 12, 24], days: [1, 2, 3, 5, 7, 14, 30, 60, 90, 180] };

/** Draws bars into an element, with its width. */
export function drawBars(host: HTMLElement, bars: Bars): DrawnBars {
  const { times, stepSeconds, parts, color, lineColor, format, onPoint, onClick } = bars;
  const steps = stepSeconds === DAY_SECONDS ? STEPS.days : STEPS.hours;
  const label = new Intl.DateTimeFormat(
    [],
    stepSeconds === DAY_SECONDS ? { day: "numeric", month: "short" } : { timeStyle: "short", hourCycle: "h23" },
  );
  const axis = { stroke: color, grid: { stroke: lineColor, width: 1 }, ticks: { stroke: lineColor, width: 1 } };
  const paths = uPlot.paths.bars?.({ size: [0.8, 60], align: 1 });
  const end = (times.at(-1) ?? 0) + stepSeconds;
  const chart = new uPlot(
    {
      width: host.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { range: () => [times[0] ?? 0, end] }, y: { range: (_chart, _low, high) => [0, high > 0 ? high * 1.05 : 1] } },
      axes: [
        {
          ...axis,
          incrs: steps.map((count) => count * stepSeconds),
          values: (_chart, seconds) => seconds.map((time) => label.format(time * 1000)),
        },
        { ...axis, size: 64, values: (_chart, values) => values.map(format) },
      ],
      series: [{}, ...parts.map((part) => ({ fill: part.color, width: 0, points: { show: false }, ...(paths && { paths }) })).toReversed()],
    },
    [times, ...stack(parts.map(({ values }) => values)).toReversed()],
    host,
  );
  const indexAt = (clientX: number): number | null => {
    const at = chart.posToVal(clientX - chart.over.getBoundingClientRect().left, "x");
    const index = times.findLastIndex((time) => time <= at);
    return index === -1 ? null : index;
  };
  chart.over.addEventListener("click", ({ clientX }) => {
    const index = indexAt(clientX);
    if (index !== null) onClick(index);
  });
  chart.over.addEventListener("pointermove", ({ clientX }) => onPoint(indexAt(clientX)));
  chart.over.addEventListener("pointerleave", () => onPoint(null));
  const band = document.createElement("div");
  band.className = "band";
  band.hidden = true;
  chart.over.append(band);
  const resized = new ResizeObserver(() => chart.setSize({ width: host.clientWidth, height: HEIGHT }));
  resized.observe(host);
  return {
    mark(index) {
      band.hidden = index === null;
      const time = times[index ?? 0] ?? 0;
      const [start, stop] = [chart.valToPos(time, "x"), chart.valToPos(time + stepSeconds, "x")];
      band.style.left = `${start}px`;
      band.style.width = `${stop - start}px`;
      const { offsetLeft } = chart.over;
      return { start: offsetLeft + start, end: offsetLeft + stop };
    },
    remove() {
      resized.disconnect();
      chart.destroy();
    },
  };
}

/** The upper ends of the parts. A bar without any known value has none. */
function stack(parts: readonly (readonly (number | null)[])[]): (number | null)[][] {
  const tops: (number | null)[][] = [];
  for (const values of parts) {
    const below = tops.at(-1);
    tops.push(values.map((value, index) => (value === null ? (below?.[index] ?? null) : value + (below?.[index] ?? 0))));
  }
  return tops;
}
