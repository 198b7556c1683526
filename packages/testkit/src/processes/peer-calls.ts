/**
 * The peer's end of `startPeer`. An entry of its own: a process that is measured loads nothing of the testkit but this.
 */

/** The functions that a peer process offers, by name. */
// biome-ignore lint/suspicious/noExplicitAny: each call has an input of its own, which the two ends agree on by type.
export type PeerCalls = Record<string, (input: any) => unknown>;

interface PeerCall {
  id: number;
  name: string;
  input: unknown;
}

export interface PeerAnswer {
  id: number;
  output?: unknown;
  error?: string;
}

/** Answers the calls of the process that started this one, and ends with it. */
export function answerCalls(calls: PeerCalls): void {
  process.on('message', (call: PeerCall) => void answer(calls, call));
  process.once('disconnect', () => process.exit());
}

async function answer(calls: PeerCalls, { id, name, input }: PeerCall): Promise<void> {
  try {
    const output = await calls[name]?.(input);
    process.send?.({ id, output } satisfies PeerAnswer);
  } catch (error) {
    process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}
