import type { WriteStream } from 'node:tty';

export interface Terminal {
  title(text: string): void;
  line(text?: string): void;
  /** A remark about something unusual that was dealt with. */
  note(text: string): void;
  good(text: string): void;
  bad(text: string): void;
  /**
   * Shows what is going on while it is, and how it went. The work says by `update` what it is at; what it returns is
   * the line that stays.
   */
  step(text: string, work: (update: (text: string) => void) => Promise<string>): Promise<void>;
}

type Output = Pick<WriteStream, 'write'> & Partial<Pick<WriteStream, 'isTTY' | 'columns'>>;

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
/** Without a terminal to animate, a step speaks up when it takes longer than this. */
const quietMs = 1_500;

/** Writes for people: with colours and movement on a terminal, as plain lines anywhere else. */
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
      let saying = text;
      const soon = moving ? undefined : setTimeout(() => line(`  ${saying} …`), quietMs);
      spinner.start(() => saying);
      try {
        const result = await work((update) => {
          saying = update;
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

/** The one line at the bottom that moves. Whoever writes a line takes it away first and puts it back. */
function createSpinner(out: Output, moving: boolean) {
  let saying: (() => string) | undefined;
  let timer: NodeJS.Timeout | undefined;
  let frame = 0;
  const erase = () => {
    if (saying) out.write('\r\x1b[K');
  };
  const draw = () => {
    if (!saying) return;
    const text = `${frames[frame % frames.length]} ${saying()} …`;
    out.write(`\r\x1b[K${text.slice(0, Math.max(10, (out.columns || 80) - 1))}`);
  };
  return {
    erase,
    draw,
    start: (text: () => string) => {
      if (!moving) return;
      saying = text;
      timer = setInterval(() => {
        frame++;
        draw();
      }, 100);
      draw();
    },
    stop: () => {
      clearInterval(timer);
      erase();
      saying = undefined;
    },
  };
}
