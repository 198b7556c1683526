import { ApiError, ConnectionError } from '@enterprise-api/sdk';
import { explain } from '../explain.ts';
import { readable } from './readable.ts';
import { shrink, sizeOf } from './shrink.ts';

/** An agent's answer: the same object as text and as structure. */
export interface Answer {
  [name: string]: unknown;
  content: { type: 'text'; text: string }[];
  structuredContent: Record<string, unknown>;
}

const maxBytes = 30_000;

/** Makes an answer of at most 30 KB. A `note` in it says what was cut. */
export function answerOf(value: object, showBodies: boolean): Answer {
  const shown = readable(value, showBodies);
  // The text takes more than half of the room, because it escapes the quotes.
  for (let room = maxBytes / 2; ; room *= 0.9) {
    const cut: string[] = [];
    const small = shrink(shown, room, '', cut) as Record<string, unknown>;
    const structuredContent = cut.length === 0 ? small : { ...small, note: noteOn(cut) };
    const answer: Answer = {
      content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
      structuredContent,
    };
    if (sizeOf(answer) <= maxBytes) return answer;
  }
}

const noteOn = (cut: readonly string[]) =>
  `Cut, because an answer has at most 50 objects and 30 KB: ${cut
    .slice(0, 5)
    .map((each) => each.slice(0, 100))
    .join(', ')}. Narrower filters give shorter answers.`;

/** Tells an agent what failed and what to do about it. */
export function refusalOf(error: unknown, showBodies: boolean) {
  const { message, hint: advice = null } = explain(error);
  const told =
    error instanceof ApiError
      ? {
          code: error.code,
          status: error.status,
          message: error.message,
          advice,
          details: error.details,
          request_id: error.requestId,
        }
      : { code: error instanceof ConnectionError ? error.code : 'failure', message, advice, request_id: null };
  return { content: answerOf({ error: told }, showBodies).content, isError: true };
}
