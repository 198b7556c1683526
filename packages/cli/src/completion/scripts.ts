import type { CommandNode } from './command-tree.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** Creates a script that completes commands, options and fixed values. The script calls only the shell itself. */
export function completionScript(shell: Shell, tree: readonly CommandNode[]): string {
  return { bash, zsh, fish }[shell](tree);
}

const paths = (tree: readonly CommandNode[]) => tree.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`);
const valueOptions = (tree: readonly CommandNode[]) => [
  ...new Set(
    tree.flatMap(({ options }) => options.filter((option) => option.takesValue).flatMap(({ names }) => names)),
  ),
];

/** For bash and zsh: finds the command in the words before the cursor. Ignores options and their values. */
function findPath(tree: readonly CommandNode[], words: string): string {
  return `  local command='' word skip=''
  for word in ${words}; do
    if [[ -n $skip ]]; then skip=''; continue; fi
    case $word in
      ${valueOptions(tree).join('|')}) skip=1; continue ;;
      -*) continue ;;
    esac
    case "\${command:+$command }$word" in
      ${paths(tree).join('|')}) command="\${command:+$command }$word" ;;
    esac
  done`;
}

function bash(tree: readonly CommandNode[]): string {
  const choices = tree.flatMap(({ path, options }) =>
    options.flatMap(({ names, takesValue, values }) =>
      takesValue
        ? names.map(
            (name) => `    '${path}:${name}') COMPREPLY=($(compgen -W '${values.join(' ')}' -- "$current")); return ;;`,
          )
        : [],
    ),
  );
  const words = tree.map(({ path, children, options, operands }) => {
    const names = [...children.map(({ name }) => name), ...operands, ...options.flatMap((option) => option.names)];
    return `    '${path}') COMPREPLY=($(compgen -W '${names.join(' ')}' -- "$current")) ;;`;
  });
  return `# bash completion of enterprise-api:  source <(enterprise-api completion bash)
_enterprise_api() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}"
  COMPREPLY=()
${findPath(tree, `"\${COMP_WORDS[@]:1:COMP_CWORD-1}"`)}
  case "$command:$previous" in
${choices.join('\n')}
  esac
  case $command in
${words.join('\n')}
  esac
}
complete -o default -F _enterprise_api enterprise-api
`;
}

function zsh(tree: readonly CommandNode[]): string {
  const choices = tree.flatMap(({ path, options }) =>
    options.flatMap(({ names, takesValue, values }) =>
      takesValue
        ? names.map(
            (name) =>
              `    '${path}:${name}') ${values.length > 0 ? `compadd -- ${values.join(' ')}` : '_files'}; return ;;`,
          )
        : [],
    ),
  );
  const words = tree.map(({ path, children, options, operands }) => {
    const described = children.map(({ name, description }) => zshEntry(name, description));
    const flags = options.flatMap(({ names, description }) => names.map((name) => zshEntry(name, description)));
    const operandEntries = operands.map((operand) => zshEntry(operand, ''));
    return `    '${path}') entries=(${[...described, ...operandEntries].join(' ')}); flags=(${flags.join(' ')}) ;;`;
  });
  return `#compdef enterprise-api
# zsh completion of enterprise-api:  source <(enterprise-api completion zsh)
_enterprise_api() {
  local -a entries flags
  local previous="\${words[CURRENT - 1]}"
${findPath(tree, `"\${(@)words[2,CURRENT-1]}"`)}
  case "$command:$previous" in
${choices.join('\n')}
  esac
  case $command in
${words.join('\n')}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then
    _describe -o 'option' flags
  elif (( \${#entries} )); then
    _describe 'command' entries
  else
    _files
  fi
}
if [[ \${zsh_eval_context[-1]} == loadautofunc ]]; then _enterprise_api "$@"; else compdef _enterprise_api enterprise-api; fi
`;
}

const zshEntry = (name: string, description: string) =>
  `'${name.replaceAll(':', '\\:')}${description === '' ? '' : `:${description.replaceAll("'", "'\\''")}`}'`;

function fish(tree: readonly CommandNode[]): string {
  const lines = tree.flatMap(({ path, children, options, operands }) => {
    const here = `complete -c enterprise-api -n "__enterprise_api_at '${path}'"`;
    return [
      ...children.map(({ name, description }) => `${here} -f -a '${name}' -d ${fishText(description)}`),
      ...operands.map((operand) => `${here} -f -a '${operand}'`),
      ...options.map((option) => `${here} ${fishOption(option)}`),
    ];
  });
  return `# fish completion of enterprise-api:  enterprise-api completion fish | source
function __enterprise_api_at
    set -l path
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        switch $word
            case ${valueOptions(tree).join(' ')}
                set skip 1
                continue
            case '-*'
                continue
        end
        if contains -- (string join ' ' $path $word) ${paths(tree).join(' ')}
            set -a path $word
        end
    end
    test "$path" = "$argv[1]"
end
${lines.join('\n')}
`;
}

function fishOption({ names, description, takesValue, values }: CommandNode['options'][number]): string {
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const value = takesValue ? ['-r', ...(values.length > 0 ? [`-f -a '${values.join(' ')}'`] : [])] : [];
  return [...flags, ...value, `-d ${fishText(description)}`].join(' ');
}

const fishText = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
