import { isInGroup, type Verb, type VerbOption } from './verbs.ts';

/** Works without the package bash-completion. A flag and its value may be joined by `=`. */
export function bashCompletion(verbs: readonly Verb[]): string {
  const first = verbs.filter((verb) => !isInGroup(verb)).map(({ name }) => name);
  return `# bash completion of fairlead: source <(fairlead completion bash)
_fairlead() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} verb=\${COMP_WORDS[1]}
  COMPREPLY=()
  # The = of --flag=value is a word of its own.
  if [[ $current == = ]]; then current=; fi
  if [[ $previous == = ]]; then previous=\${COMP_WORDS[COMP_CWORD-2]}; fi
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W '${[...first, 'help', '--help', '--version'].join(' ')}' -- "$current")
    return
  fi
${groupCase(verbs)}  case "$verb:$previous" in
${verbs.flatMap(valueCases).join('\n')}
  esac
  case "$verb" in
${verbs.map(wordCase).join('\n')}
  help) mapfile -t COMPREPLY < <(compgen -W '${first.join(' ')}' -- "$current") ;;
  esac
}
complete -F _fairlead fairlead
`;
}

/** From the third word on, a command of a group is known by two words. */
function groupCase(verbs: readonly Verb[]): string {
  const names = verbs.filter(isInGroup).map(({ name }) => `'${name}'`);
  if (names.length === 0) return '';
  return `  if ((COMP_CWORD > 2)); then
    case "$verb \${COMP_WORDS[2]}" in
    ${names.join(' | ')}) verb="$verb \${COMP_WORDS[2]}" ;;
    esac
  fi
`;
}

function valueCases({ name, options }: Verb): string[] {
  const valued = options.filter(({ value, isValueOptional }) => value && !isValueOptional);
  return valued.map((option) => {
    const patterns = namesOf(option).map((each) => `'${name}:${each}'`);
    const reply = option.choices.length > 0 ? `-W '${option.choices.join(' ')}'` : '-f';
    return `  ${patterns.join(' | ')}) mapfile -t COMPREPLY < <(compgen ${reply} -- "$current"); return ;;`;
  });
}

function wordCase({ name, options, choices }: Verb): string {
  const words = [...choices, ...options.flatMap(namesOf), '--help'];
  return `  '${name}') mapfile -t COMPREPLY < <(compgen -W '${words.join(' ')}' -- "$current") ;;`;
}

function namesOf({ long, short }: VerbOption): string[] {
  return short === undefined ? [long] : [long, short];
}
