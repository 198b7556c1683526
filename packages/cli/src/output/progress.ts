import type { Environment, Output } from '../io.ts';
import { bar } from './bar.ts';
import { isInteractive } from './paint.ts';
import { oneLine, shorten } from './text.ts';

export interface Progress {
  /** How much is done; of `total`, where that is known. */
  update(done: number, total?: number): void;
  /** Removes the line. */
  end(): void;
}

const barColumns = 24;
/** A line drawn more often than this only costs time. */
const everyMs = 80;

/** One line on a terminal that shows how far long work is. Writes nothing where there is no terminal. */
export function startProgress(
  title: string,
  output: Output,
  env: Environment,
  now = () => performance.now(),
): Progress {
  if (!isInteractive(output, env)) return { update: () => undefined, end: () => undefined };
  let drawnAt = Number.NEGATIVE_INFINITY;
  const draw = (text: string) => output.write(`\r\x1b[K${shorten(text, Math.max(20, output.columns || 80) - 1)}`);
  draw(`${oneLine(title)} …`);
  return {
    update: (done, total) => {
      const isLast = total !== undefined && done >= total;
      if (!isLast && now() - drawnAt < everyMs) return;
      drawnAt = now();
      draw(progressText(title, done, total));
    },
    end: () => void output.write('\r\x1b[K'),
  };
}

export function progressText(title: string, done: number, total: number | undefined): string {
  if (total === undefined || total === 0) return `${oneLine(title)} … ${done}`;
  const share = done / total;
  return `${oneLine(title)}  ${bar(share, barColumns).padEnd(barColumns, '░')}  ${Math.floor(share * 100)} %  ${done}/${total}`;
}
