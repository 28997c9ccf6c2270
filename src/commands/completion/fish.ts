import type { Verb, VerbOption } from './verbs.ts';

/** For ~/.config/fish/completions, as fairlead.fish. */
export function fishCompletion(verbs: readonly Verb[]): string {
  const lines = verbs.flatMap(({ name, about, options, choices }) => {
    const seen = quoted(`__fish_seen_subcommand_from ${name}`);
    return [
      `complete -c fairlead -n __fish_use_subcommand -f -a ${name} -d ${quoted(about)}`,
      ...(choices.length > 0
        ? [`complete -c fairlead -n ${seen} -f -a ${quoted(choices.join(' '))}`]
        : []),
      ...options.map((option) => `complete -c fairlead -n ${seen} ${flagsOf(option)}`),
    ];
  });
  return `# fish completion of fairlead: fairlead completion fish | source\n${lines.join('\n')}\n`;
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
