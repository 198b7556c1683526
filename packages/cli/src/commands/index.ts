import type { Command } from 'commander';
import type { Context } from '../context.ts';
import type { GlobalOptions } from '../settings/settings.ts';
import { addCompletionCommand } from './completion.ts';

/** Adds commands to the program. */
export type CommandModule = (program: Command, open: (options: GlobalOptions) => Context) => void;

export const commandModules: readonly CommandModule[] = [addCompletionCommand];
