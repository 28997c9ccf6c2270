import type { Command, Option } from 'commander';

/** A command as data for completion and manual pages. */
export interface Verb {
  /** With the name of its group, such as `outside init`. */
  readonly name: string;
  readonly about: string;
  /** Usage line, without the name of the program. */
  readonly usage: string;
  /** Possible arguments, if known; for a group its commands. */
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

/** A group comes before its commands. */
export function describeVerbs(commands: readonly Command[]): readonly Verb[] {
  return commands.flatMap((command) => [
    describeVerb(command, command.name()),
    ...command.commands.map((child) => describeVerb(child, `${command.name()} ${child.name()}`)),
  ]);
}

function describeVerb(command: Command, name: string): Verb {
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  return {
    name,
    about: command.description(),
    usage: `${name} ${command.usage()}`,
    choices: [...command.commands.map((child) => child.name()), ...choices],
    options: command.options.map(describeOption),
  };
}

/** The name without that of its group. */
export function ownName({ name }: Verb): string {
  return name.slice(name.indexOf(' ') + 1);
}

export function isInGroup({ name }: Verb): boolean {
  return name.includes(' ');
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
