/** What a process of the benchmark can be asked, by name. */
// biome-ignore lint/suspicious/noExplicitAny: each call has an input of its own, which the two ends agree on by type.
export type Calls = Record<string, (input: any) => unknown>;

interface Question {
  id: number;
  name: string;
  input: unknown;
}

export interface Answer {
  id: number;
  output?: unknown;
  error?: string;
}

/** Answers the questions of the process that started this one, and ends with it. */
export function serve(calls: Calls): void {
  process.on('message', (question: Question) => void answer(calls, question));
  process.once('disconnect', () => process.exit());
}

async function answer(calls: Calls, { id, name, input }: Question): Promise<void> {
  try {
    const output = await calls[name]?.(input);
    process.send?.({ id, output } satisfies Answer);
  } catch (error) {
    process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}
