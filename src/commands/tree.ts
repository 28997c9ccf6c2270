import type { Command } from 'commander';
import { cleanupCommand } from './cleanup.ts';
import { completionCommand } from './completion.ts';
import { configCommand } from './config.ts';
import { diffCommand } from './diff.ts';
import { doctorCommand } from './doctor.ts';
import { explainCommand } from './explain.ts';
import { historyCommand } from './history.ts';
import { outsideCommand } from './outside.ts';
import { renderCommand } from './render.ts';
import { runCommand } from './run.ts';
import { servicesCommand } from './services.ts';
import { shellCommand } from './shell.ts';
import { sizeCommand } from './size.ts';
import { statusCommand } from './status.ts';
import { topCommand } from './top.ts';
import { viewCommand } from './view.ts';

/** Every command, under the heading that the help has it under. */
export function commandTree(): readonly Command[] {
  return [
    ...grouped('Run:', [runCommand()]),
    ...grouped('Inspect a node:', [
      statusCommand(),
      servicesCommand(),
      topCommand(),
      viewCommand(),
      explainCommand(),
      diffCommand(),
      historyCommand(),
      doctorCommand(),
      renderCommand(),
    ]),
    ...grouped('Outside the cluster:', [outsideCommand(), shellCommand()]),
    ...grouped('Configure and maintain:', [
      configCommand(),
      sizeCommand(),
      cleanupCommand(),
      completionCommand(commandTree),
    ]),
  ];
}

function grouped(heading: string, commands: readonly Command[]): readonly Command[] {
  return commands.map((command) => command.helpGroup(heading));
}
