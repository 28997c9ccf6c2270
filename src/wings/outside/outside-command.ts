import { Command } from 'commander';
import { checkCommand } from './check-command.ts';
import { dnsCommand } from './dns.ts';
import { initCommand } from './init.ts';
import { offCommand } from './off.ts';
import { tokenCommand } from './token.ts';

/** `fairlead outside`: sets up, checks and removes Fairlead on a machine that is not a node. */
export function outsideCommand(): Command {
  const command = new Command('outside')
    .description('set up, check and remove Fairlead on a machine that is not a node of the cluster')
    .helpCommand(false);
  for (const part of parts()) command.addCommand(part);
  return command;
}

function parts(): readonly Command[] {
  return [initCommand(), checkCommand(), dnsCommand(), offCommand(), tokenCommand()];
}
