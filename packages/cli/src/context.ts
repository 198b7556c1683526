import type { Io } from './io.ts';
import { createPrinter, type Printer } from './output/printer.ts';
import { openProfiles, type Profiles } from './settings/profiles.ts';
import type { GlobalOptions } from './settings/settings.ts';

/** The environment of a command. */
export interface Context {
  readonly io: Io;
  readonly options: GlobalOptions;
  readonly printer: Printer;
  readonly profiles: Profiles;
}

export function openContext(io: Io, options: GlobalOptions): Context {
  return { io, options, printer: createPrinter(io, options.json === true), profiles: openProfiles(io.env) };
}
