import { Command } from 'commander';
import { checkCommand } from './outside/check.ts';
import { dnsCommand } from './outside/dns.ts';
import { initCommand } from './outside/init.ts';
import { offCommand } from './outside/off.ts';
import { tokenCommand } from './outside/token.ts';

/** `fairlead outside`: sets up, checks and removes Fairlead on a machine that is not a node. */
export function outsideCommand(): Command {
  const command = new Command('outside').description(
    'set up, check and remove Fairlead on a machine that is not a node of the cluster',
  );
  for (const part of parts()) command.addCommand(part);
  return command;
}

function parts(): readonly Command[] {
  return [initCommand(), checkCommand(), dnsCommand(), offCommand(), tokenCommand()];
}
