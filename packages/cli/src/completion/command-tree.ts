import type { Argument, Command, Option } from 'commander';

/** A command for completion scripts, including the options of all parent commands. */
export interface CommandNode {
  /** The names after the program's name: `webhooks list`. Empty for the program itself. */
  path: string;
  children: { name: string; description: string }[];
  options: { names: string[]; description: string; takesValue: boolean; values: string[] }[];
  /** Values of the first operand, if they are a fixed list. */
  operands: string[];
}

/** Returns the program, followed by all its commands. */
export function readCommandTree(program: Command): CommandNode[] {
  return walk(program, [], []);
}

function walk(command: Command, path: string[], inherited: readonly Option[]): CommandNode[] {
  const options = [...command.options.filter((option) => !option.hidden), ...inherited];
  const children = command.commands.filter((child) => child.name() !== 'help');
  const node: CommandNode = {
    path: path.join(' '),
    children: children.map((child) => ({ name: child.name(), description: child.description() })),
    options: [...options.map(describe), help],
    operands: operandsOf(command.registeredArguments),
  };
  return [node, ...children.flatMap((child) => walk(child, [...path, child.name()], options))];
}

const help = { names: ['-h', '--help'], description: 'display help for command', takesValue: false, values: [] };

function describe(option: Option): CommandNode['options'][number] {
  return {
    names: [option.short, option.long].filter((name) => name !== undefined),
    description: option.description,
    takesValue: option.required || option.optional,
    values: option.argChoices ?? [],
  };
}

const operandsOf = (args: readonly Argument[]) => args[0]?.argChoices ?? [];
