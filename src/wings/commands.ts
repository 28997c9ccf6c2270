import type { CommandEntry } from '../modes/wing.ts';

/** Commands of what can be taken off, by the heading that the help has them under. */
export const WING_COMMANDS: Readonly<
  Record<string, Readonly<Record<string, readonly CommandEntry[]>>>
> = {
  top: {
    'Inspect a node:': [
      { name: 'top', load: async () => (await import('./top/top-command.ts')).topCommand() },
    ],
  },
  view: {
    'Inspect a node:': [
      { name: 'view', load: async () => (await import('./view/view-command.ts')).viewCommand() },
    ],
  },
  outside: {
    'Outside the cluster:': [
      {
        name: 'outside',
        load: async () => (await import('./outside/outside-command.ts')).outsideCommand(),
      },
      {
        name: 'shell',
        load: async () => (await import('./outside/shell/shell-command.ts')).shellCommand(),
      },
    ],
  },
  ebpf: {
    'Configure and maintain:': [
      { name: 'size', load: async () => (await import('./ebpf/size-command.ts')).sizeCommand() },
    ],
  },
};
