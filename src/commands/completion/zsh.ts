import { isInGroup, ownName, type Verb, type VerbOption } from './verbs.ts';

/** For a folder of $fpath, as _fairlead, or to be sourced after compinit. */
export function zshCompletion(verbs: readonly Verb[]): string {
  const first = verbs.filter((verb) => !isInGroup(verb));
  return `#compdef fairlead
_fairlead() {
  local -a verbs
  local context state line
  verbs=(
${first.map(({ name, about }) => `    ${quoted(`${name}:${about.replaceAll(':', '\\:')}`)}`).join('\n')}
  )
  _arguments -C '--help[show help]' '--version[print the version]' '1: :->verb' '*:: :->rest'
  case $state in
  verb) _describe verb verbs ;;
  rest)
    case $line[1] in
${first.map((verb) => firstCase(verb, verbs)).join('\n')}
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

function firstCase(verb: Verb, verbs: readonly Verb[]): string {
  const below = verbs.filter(({ name }) => name.startsWith(`${verb.name} `));
  if (below.length === 0) return verbCase(verb);
  return `    ${verb.name})
      _arguments -C ${quoted('--help[show help]')} ${quoted(`1: :(${verb.choices.join(' ')})`)} '*:: :->below'
      case $line[1] in
${below.map(verbCase).join('\n')}
      esac
      ;;`;
}

function verbCase(verb: Verb): string {
  const { options, choices } = verb;
  const specs = [
    ...options.flatMap(specsOf),
    quoted('--help[show help]'),
    ...(choices.length > 0 ? [quoted(`1: :(${choices.join(' ')})`)] : []),
  ];
  return `    ${ownName(verb)})\n      _arguments \\\n        ${specs.join(' \\\n        ')}\n      ;;`;
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
