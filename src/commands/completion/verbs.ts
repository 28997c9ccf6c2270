import type { Command, Option } from 'commander';

/** A command as data for completion and manual pages. */
export interface Verb {
  readonly name: string;
  readonly about: string;
  /** Usage line, without the name of the program. */
  readonly usage: string;
  /** Possible arguments, if known. */
  readonly choices: readonly string[];
  readonly options: readonly VerbOption[];
}

export interface VerbOption {
  /** `--output`. */
  readonly long: string;
  /** `-o`. */
  readonly short: string | undefined;
  readonly about: string;
  /** Name of its value; undefined: a flag without value. */
  readonly value: string | undefined;
  readonly isValueOptional: boolean;
  readonly choices: readonly string[];
  readonly default: string | undefined;
  /** Heading in the help. */
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
