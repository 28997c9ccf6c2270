import type { Command, Option } from 'commander';

/** A command as shells and manuals want to know it. */
export interface Verb {
  readonly name: string;
  readonly about: string;
  /** As in the first line of its help, without the name of the program. */
  readonly usage: string;
  /** What may stand behind it, where that is known. */
  readonly choices: readonly string[];
  readonly options: readonly VerbOption[];
}

export interface VerbOption {
  /** `--output`. */
  readonly long: string;
  /** `-o`. */
  readonly short: string | undefined;
  readonly about: string;
  /** The name of its value; undefined: it has none. */
  readonly value: string | undefined;
  readonly isValueOptional: boolean;
  readonly choices: readonly string[];
  readonly default: string | undefined;
  /** The heading it stands under in the help. */
  readonly group: string;
}

export function describeVerbs(commands: readonly Command[]): readonly Verb[] {
  return commands.map((command) => ({
    name: command.name(),
    about: command.description(),
    usage: `${command.name()} ${command.usage()}`,
    choices: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    options: command.options.map(describeOption),
  }));
}

function describeOption(option: Option): VerbOption {
  const { long, short, flags, description, argChoices, defaultValue } = option;
  if (typeof long !== 'string') throw new TypeError(`${flags} has no long name`);
  const value = /[<[](.+?)(?:\.\.\.)?[>\]]$/.exec(flags)?.[1];
  return {
    long,
    short: short ?? undefined,
    about: description,
    value,
    isValueOptional: option.optional,
    choices: argChoices ?? [],
    default: defaultValue === undefined || value === undefined ? undefined : String(defaultValue),
    group: option.helpGroupHeading ?? 'Options:',
  };
}
