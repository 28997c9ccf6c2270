import type { Verb, VerbOption } from './verbs.ts';

/** For a folder of $fpath, as _fairlead, or to be sourced after compinit. */
export function zshCompletion(verbs: readonly Verb[]): string {
  return `#compdef fairlead
_fairlead() {
  local -a verbs
  local context state line
  verbs=(
${verbs.map(({ name, about }) => `    ${quoted(`${name}:${about.replaceAll(':', '\\:')}`)}`).join('\n')}
  )
  _arguments -C '--help[show help]' '--version[print the version]' '1: :->verb' '*:: :->rest'
  case $state in
  verb) _describe verb verbs ;;
  rest)
    case $line[1] in
${verbs.map(verbCase).join('\n')}
    esac
    ;;
  esac
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _fairlead "$@"
else
  compdef _fairlead fairlead
fi
`;
}

function verbCase({ name, options, choices }: Verb): string {
  const specs = [
    ...options.flatMap(specsOf),
    quoted('--help[show help]'),
    ...(choices.length > 0 ? [quoted(`1: :(${choices.join(' ')})`)] : []),
  ];
  return `    ${name})\n      _arguments \\\n        ${specs.join(' \\\n        ')}\n      ;;`;
}

function specsOf({ long, short, about, value, isValueOptional, choices }: VerbOption): string[] {
  const text = `[${about.replaceAll(/[[\]\\]/g, '\\$&')}]`;
  const among = choices.length > 0 ? `(${choices.join(' ')})` : '_files';
  const colon = isValueOptional ? '::' : ':';
  const argument = value === undefined ? '' : `${colon}${value.replaceAll(':', '')}:${among}`;
  const equals = value === undefined ? '' : isValueOptional ? '=-' : '=';
  const spelled = [`*${long}${equals}`, ...(short === undefined ? [] : [`*${short}`])];
  return spelled.map((each) => quoted(`${each}${text}${argument}`));
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
