import { isInGroup, ownName, type Verb, type VerbOption } from './verbs.ts';

/** For ~/.config/fish/completions, as fairlead.fish. */
export function fishCompletion(verbs: readonly Verb[]): string {
  const lines = verbs.flatMap((verb) => {
    const { name, about, options, choices } = verb;
    const seen = quoted(name.split(' ').map(seenWord).join('; and '));
    const before = isInGroup(verb) ? groupSeen(verb, verbs) : '__fish_use_subcommand';
    const isGroup = verbs.some((other) => other.name.startsWith(`${name} `));
    return [
      `complete -c fairlead -n ${quoted(before)} -f -a ${ownName(verb)} -d ${quoted(about)}`,
      ...(choices.length > 0 && !isGroup
        ? [`complete -c fairlead -n ${seen} -f -a ${quoted(choices.join(' '))}`]
        : []),
      ...options.map((option) => `complete -c fairlead -n ${seen} ${flagsOf(option)}`),
    ];
  });
  return `# fish completion of fairlead: fairlead completion fish | source\n${lines.join('\n')}\n`;
}

function seenWord(word: string): string {
  return `__fish_seen_subcommand_from ${word}`;
}

/** The group is typed, and none of its commands yet. */
function groupSeen({ name }: Verb, verbs: readonly Verb[]): string {
  const [group = ''] = name.split(' ');
  const below = verbs.filter((verb) => verb.name.startsWith(`${group} `)).map(ownName);
  return `${seenWord(group)}; and not ${seenWord(below.join(' '))}`;
}

function flagsOf({ long, short, about, value, isValueOptional, choices }: VerbOption): string {
  const needsValue = value !== undefined && !isValueOptional;
  return [
    `-l ${long.slice(2)}`,
    ...(short === undefined ? [] : [`-s ${short.slice(1)}`]),
    ...(choices.length > 0 ? [`-x -a ${quoted(choices.join(' '))}`] : needsValue ? ['-r'] : []),
    `-d ${quoted(about)}`,
  ].join(' ');
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
