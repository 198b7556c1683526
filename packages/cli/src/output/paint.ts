import { styleText } from 'node:util';
import type { Environment, Output } from '../io.ts';

export type Colour = Parameters<typeof styleText>[0];
export type Paint = (colour: Colour, text: string) => string;

/** Colours for this stream: on a terminal that knows them, unless NO_COLOR asks for none. */
export function paintFor(output: Output, env: Environment): Paint {
  const coloured = isColoured(output, env);
  return (colour, text) => (coloured ? styleText(colour, text, { validateStream: false }) : text);
}

export function isColoured(output: Output, env: Environment): boolean {
  return isInteractive(output, env) && !env.NO_COLOR;
}

/** Whether a line can be drawn again: false in pipes and files, and on terminals without cursor movements. */
export function isInteractive(output: Output, env: Environment): boolean {
  return output.isTTY === true && env.TERM !== 'dumb';
}
