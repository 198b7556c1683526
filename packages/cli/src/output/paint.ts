import { styleText } from 'node:util';
import type { Environment, Output } from '../io.ts';

export type Colour = Parameters<typeof styleText>[0];
export type Paint = (colour: Colour, text: string) => string;

/** Colours text if the stream is a terminal with colours, unless NO_COLOR is set. */
export function paintFor(output: Output, env: Environment): Paint {
  const coloured = isColoured(output, env);
  return (colour, text) => (coloured ? styleText(colour, text, { validateStream: false }) : text);
}

export function isColoured(output: Output, env: Environment): boolean {
  return isInteractive(output, env) && !env.NO_COLOR;
}

/** True if a line can be redrawn. False for pipes, files and terminals without cursor movement. */
export function isInteractive(output: Output, env: Environment): boolean {
  return output.isTTY === true && env.TERM !== 'dumb';
}
