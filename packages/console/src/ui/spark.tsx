import type { Statistics } from '../api/types.ts';
import { count } from '../format.ts';
import { m } from '../messages.ts';

type Entry = Statistics['data'][number];

const hours = 24;

/** The attempts of the last 24 hours, an hour a bar: failed ones below in red. */
export function Spark({ entries, until }: { entries: readonly Entry[]; until: string }) {
  const last = Math.floor((new Date(until).getTime() - 1) / 3_600_000);
  const highest = Math.max(1, ...entries.map(({ attempts }) => attempts));
  const total = entries.reduce((sum, { attempts }) => sum + attempts, 0);
  const failed = entries.reduce((sum, entry) => sum + entry.failed, 0);
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${hours * 4} 20`}
      role="img"
      aria-label={`${m.webhooks.day}: ${count(total)} ${m.overview.totals}, ${count(failed)} ${m.overview.failed.toLowerCase()}`}
    >
      <path d={`M0 19.5H${hours * 4}`} class="base" />
      {entries.map((entry) => {
        const x = (hours - 1 - (last - Math.floor(new Date(entry.start).getTime() / 3_600_000))) * 4;
        if (x < 0) return null;
        const whole = Math.max(2, (entry.attempts / highest) * 19);
        const bad = (entry.failed / Math.max(1, entry.attempts)) * whole;
        return (
          <g key={entry.start}>
            <path d={`M${x} ${20 - whole}h3V20h-3z`} class="good" />
            <path d={`M${x} ${20 - bad}h3V20h-3z`} class="bad" />
          </g>
        );
      })}
    </svg>
  );
}
