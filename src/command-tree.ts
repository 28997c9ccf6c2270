import type { Command } from 'commander';
import type { CommandEntry } from './modes/wing.ts';
import { WING_COMMANDS } from './wings/commands.ts';

interface CommandGroup {
  /** The heading that the help has them under. */
  readonly heading: string;
  readonly commands: readonly CommandEntry[];
}

const GROUPS: readonly CommandGroup[] = [
  {
    heading: 'Run:',
    commands: [{ name: 'run', load: async () => (await import('./commands/run.ts')).runCommand() }],
  },
  {
    heading: 'Inspect a node:',
    commands: [
      {
        name: 'status',
        load: async () => (await import('./commands/status-command.ts')).statusCommand(),
      },
      {
        name: 'services',
        load: async () => (await import('./commands/services.ts')).servicesCommand(),
      },
      {
        name: 'explain',
        load: async () => (await import('./commands/explain-command.ts')).explainCommand(),
      },
      {
        name: 'diff',
        load: async () => (await import('./commands/diff-command.ts')).diffCommand(),
      },
      {
        name: 'history',
        load: async () => (await import('./commands/history-command.ts')).historyCommand(),
      },
      {
        name: 'doctor',
        load: async () => (await import('./commands/doctor-command.ts')).doctorCommand(),
      },
      {
        name: 'render',
        load: async () => (await import('./commands/render-command.ts')).renderCommand(),
      },
    ],
  },
  {
    heading: 'Outside the cluster:',
    commands: [],
  },
  {
    heading: 'Configure and maintain:',
    commands: [
      { name: 'config', load: async () => (await import('./commands/config.ts')).configCommand() },
      {
        name: 'cleanup',
        load: async () => (await import('./commands/cleanup.ts')).cleanupCommand(),
      },
      {
        name: 'completion',
        load: async () => (await import('./commands/completion.ts')).completionCommand(commandTree),
      },
    ],
  },
];

/** Every command. */
export async function commandTree(): Promise<readonly Command[]> {
  return await loaded(() => true);
}

const VERSION_FLAGS = ['--version', '-V'];

/** The commands that these arguments need: one, or all where help or a suggestion may name them. */
export async function commandsFor([first]: readonly string[]): Promise<readonly Command[]> {
  if (first !== undefined && VERSION_FLAGS.includes(first)) return [];
  const named = await loaded(({ name }) => name === first);
  return named.length > 0 ? named : await commandTree();
}

async function loaded(isWanted: (entry: CommandEntry) => boolean): Promise<readonly Command[]> {
  const commands: Command[] = [];
  for (const group of GROUPS) {
    for (const entry of [...group.commands, ...ofWings(group)].filter(isWanted)) {
      commands.push((await entry.load()).helpGroup(group.heading));
    }
  }
  return commands;
}

function ofWings({ heading }: CommandGroup): readonly CommandEntry[] {
  return Object.values(WING_COMMANDS).flatMap((commands) => commands[heading] ?? []);
}
