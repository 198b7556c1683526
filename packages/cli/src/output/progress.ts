import type { Environment, Output } from '../io.ts';
import { bar } from './bar.ts';
import { isInteractive } from './paint.ts';
import { oneLine, shorten } from './text.ts';

export interface Progress {
  /** Shows how much is done, and the total if known. */
  update(done: number, total?: number): void;
  /** Removes the line. */
  end(): void;
}

const barColumns = 24;
/** Redrawing more often would only cost time. */
const everyMs = 80;

/** Shows the progress of long work on one line of a terminal. Without a terminal, writes nothing. */
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
