import { failOnLostOutput } from '../../commands/lost-output.ts';
import { runCommands } from '../../commands/program.ts';
import { PLUGIN_ABOUT, pluginTree } from './tree.ts';

failOnLostOutput(process.stdout);
// Nowhere is left to tell of what standard error did not take.
process.stderr.on('error', () => undefined);
const plugin = {
  name: 'kubectl fairlead',
  about: PLUGIN_ABOUT,
  commandsFor: async () => pluginTree(),
};
process.exitCode = await runCommands(plugin, process.argv.slice(2));
