import type { WriteStream } from 'node:tty';

export interface Terminal {
  title(text: string): void;
  line(text?: string): void;
  /** A remark about something unusual that needs no action. */
  note(text: string): void;
  good(text: string): void;
  bad(text: string): void;
  /**
   * Shows the text while the work runs; `update` replaces it. The line that the work returns stays.
   */
  step(text: string, work: (update: (text: string) => void) => Promise<string>): Promise<void>;
}

type Output = Pick<WriteStream, 'write'> & Partial<Pick<WriteStream, 'isTTY' | 'columns'>>;

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
/** Where there is no terminal to animate, the text of a step is printed when it takes longer than this. */
const quietMs = 1_500;

/** Writes for people: colours and a spinner on a terminal, plain lines elsewhere. */
export function createTerminal(out: Output, env: Readonly<Record<string, string | undefined>>): Terminal {
  const moving = out.isTTY === true && env.TERM !== 'dumb';
  const coloured = moving && !env.NO_COLOR;
  const paint = (code: number, text: string) => (coloured ? `\x1b[${code}m${text}\x1b[0m` : text);
  const spinner = createSpinner(out, moving);
  const line = (text = '') => {
    spinner.erase();
    out.write(`${text}\n`);
    spinner.draw();
  };
  const green = (text: string) => paint(32, text);
  return {
    line,
    title: (text) => line(`\n${paint(1, text)}`),
    note: (text) => line(`${paint(33, '!')} ${text}`),
    good: (text) => line(`${green('✓')} ${text}`),
    bad: (text) => line(`${paint(31, '✗')} ${text}`),
    step: async (text, work) => {
      let shown = text;
      const soon = moving ? undefined : setTimeout(() => line(`  ${shown} …`), quietMs);
      spinner.start(() => shown);
      try {
        const result = await work((update) => {
          shown = update;
        });
        spinner.stop();
        line(`${green('✓')} ${result}`);
      } finally {
        spinner.stop();
        clearTimeout(soon);
      }
    },
  };
}

/** The animated line at the bottom. Erase it before writing another line, and draw it again afterwards. */
function createSpinner(out: Output, moving: boolean) {
  let text: (() => string) | undefined;
  let timer: NodeJS.Timeout | undefined;
  let frame = 0;
  const erase = () => {
    if (text) out.write('\r\x1b[K');
  };
  const draw = () => {
    if (!text) return;
    const line = `${frames[frame % frames.length]} ${text()} …`;
    out.write(`\r\x1b[K${line.slice(0, Math.max(10, (out.columns || 80) - 1))}`);
  };
  return {
    erase,
    draw,
    start: (shown: () => string) => {
      if (!moving) return;
      text = shown;
      timer = setInterval(() => {
        frame++;
        draw();
      }, 100);
      draw();
    },
    stop: () => {
      clearInterval(timer);
      erase();
      text = undefined;
    },
  };
}
