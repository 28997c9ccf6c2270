import type { Command } from 'commander';
import { failOnLostOutput } from '../../commands/lost-output.ts';
import { runCommands } from '../../commands/program.ts';
import { nodesDiffCommand } from './nodes-diff.ts';
import { nodesDoctorCommand } from './nodes-doctor.ts';
import { nodesExplainCommand } from './nodes-explain.ts';
import { nodesHistoryCommand } from './nodes-history.ts';
import { nodesStatusCommand } from './nodes-status.ts';
import { nodeViewCommand } from './nodes-view-command.ts';
import { backCommand, swapCommand } from './swap.ts';
import { nodesTopCommand } from './top.ts';

const PLUGIN_ABOUT =
  'Fairlead on all nodes of a cluster, by kubectl exec into the pods of its agents';

/** Every command of `kubectl fairlead`. */
function pluginTree(): readonly Command[] {
  return [
    ...grouped('Ask all nodes:', [
      nodesStatusCommand(),
      nodesExplainCommand(),
      nodesDiffCommand(),
      nodesDoctorCommand(),
      nodesTopCommand(),
      nodesHistoryCommand(),
    ]),
    ...grouped('Watch one node:', [nodeViewCommand()]),
    ...grouped('Replace kube-proxy:', [swapCommand(), backCommand()]),
  ];
}

function grouped(heading: string, commands: readonly Command[]): readonly Command[] {
  return commands.map((command) => command.helpGroup(heading));
}

failOnLostOutput(process.stdout);
// Nowhere is left to tell of what standard error did not take.
process.stderr.on('error', () => undefined);
const plugin = {
  name: 'kubectl fairlead',
  about: PLUGIN_ABOUT,
  commandsFor: async () => pluginTree(),
};
process.exitCode = await runCommands(plugin, process.argv.slice(2));
