import type { Verb, VerbOption } from './verbs.ts';

export interface ManualPage {
  /** `fairlead-run.8`. */
  readonly fileName: string;
  readonly text: string;
}

const SECTION = 8;

/** One page for the program and one for each verb, for man(1). */
export function manualPages(
  verbs: readonly Verb[],
  { version, about }: { readonly version: string; readonly about: string },
): readonly ManualPage[] {
  const head = (name: string): string =>
    `.TH ${escaped(name.toUpperCase())} ${SECTION} "" "fairlead ${escaped(version)}" "Fairlead"`;
  const program = [
    head('fairlead'),
    section('NAME', [`fairlead \\- ${escaped(about)}`]),
    section('SYNOPSIS', ['.B fairlead', '.I command', '[options]']),
    section('COMMANDS', verbs.flatMap(verbEntry)),
    section('FILES', FILES),
    section('EXIT STATUS', EXIT_STATUS),
    section('SEE ALSO', [
      verbs.map(({ name }) => `.BR ${escaped(pageName(name))} (${SECTION})`).join('\n'),
    ]),
  ];
  return [
    { fileName: `fairlead.${SECTION}`, text: page(program) },
    ...verbs.map((verb) => ({
      fileName: `${pageName(verb.name)}.${SECTION}`,
      text: page([
        head(pageName(verb.name)),
        section('NAME', [`${escaped(pageName(verb.name))} \\- ${escaped(verb.about)}`]),
        section('SYNOPSIS', ['.B fairlead', escaped(verb.usage)]),
        ...groupsOf(verb).map(([title, options]) => section(title, options.flatMap(optionEntry))),
        section('SEE ALSO', [`.BR fairlead (${SECTION})`]),
      ]),
    })),
  ];
}

/** `fairlead-outside-init` for `outside init`. */
function pageName(verb: string): string {
  return `fairlead-${verb.replaceAll(' ', '-')}`;
}

const FILES = [
  '.TP',
  '.I /run/fairlead',
  'the status socket, the lock file of the running instance, and the saved kernel settings',
];

const EXIT_STATUS = [
  ...['.TP', '0', 'done'],
  ...['.TP', '1', 'failed; the first line of the output is the reason'],
  ...['.TP', '2', 'invalid command line'],
  ...['.TP', '3', 'status: not ready; diff: differences'],
  ...['.TP', '4', 'run: another instance already serves this network namespace'],
];

function verbEntry({ name, about }: Verb): string[] {
  return ['.TP', `.B ${escaped(name)}`, escaped(about)];
}

function groupsOf({ options }: Verb): [string, VerbOption[]][] {
  const groups = Map.groupBy(options, ({ group }) => group.replace(/:$/, '').toUpperCase());
  return [...groups];
}

function optionEntry(option: VerbOption): string[] {
  const { long, short, about, value, isValueOptional, choices } = option;
  const names = [...(short === undefined ? [] : [short]), long].join(', ');
  const written = value === undefined ? '' : isValueOptional ? `[=${value}]` : ` ${value}`;
  const more = [
    ...(choices.length > 0 ? [`One of: ${choices.join(', ')}.`] : []),
    ...(option.default === undefined ? [] : [`Default: ${option.default}.`]),
  ];
  const text = more.length > 0 && !about.endsWith('.') ? `${about}.` : about;
  return ['.TP', `.B ${escaped(`${names}${written}`)}`, ...[text, ...more].map(escaped)];
}

function section(title: string, lines: readonly string[]): string {
  return [`.SH ${escaped(title)}`, ...lines].join('\n');
}

function page(parts: readonly string[]): string {
  return `${parts.join('\n')}\n`;
}

/** Plain text for roff: no line of it is a request, and a hyphen can be copied as one. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replace(/^([.'])/, '\\&$1');
}
