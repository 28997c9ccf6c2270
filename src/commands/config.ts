import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Command, Option } from 'commander';
import type { AccessWarning } from '../cluster/access.ts';
import { plainHttpWarnings } from '../cluster/kubeconfig/plain-http.ts';
import { formatProblem } from '../config/config-problem.ts';
import type { StartWishes } from '../config/flags/read.ts';
import { loadConfig } from '../config/load-config.ts';
import { configurationJsonSchema } from '../config/schema.ts';
import type { Settings } from '../config/settings.ts';
import { toConfigurationYaml } from '../config/write.ts';
import { assertBuilt } from '../modes/mode-registry.ts';
import { configData, configReference, configTable } from './config-views.ts';
import { addKubeProxyFlags, givenFlags } from './kube-proxy-flags.ts';
import { accessWarnings, accessWarningText, configuredSource } from './open-source.ts';
import { printData, printJson, printPage, printWarning } from './terminal/print.ts';

interface ConfigOptions {
  readonly output: 'table' | 'yaml' | 'json';
  readonly schema?: true;
  readonly reference?: true;
}

/** `fairlead config`: the settings of a file and flags, with their origins. */
export function configCommand(): Command {
  const command = new Command('config')
    .description(
      'check a configuration and print the resulting settings, without starting anything',
    )
    .addOption(
      new Option('-o, --output <form>', 'a table, or a configuration file with the same settings')
        .choices(['table', 'yaml', 'json'])
        .default('table'),
    )
    .option('--schema', 'print the JSON schema of the configuration file, for editors')
    .option('--reference', 'print all fields with their defaults, as a Markdown table');
  return addKubeProxyFlags(command).action(async (options: ConfigOptions) => {
    if (options.schema) printJson(configurationJsonSchema());
    else if (options.reference) printPage(configReference());
    else await printConfig(command, options);
  });
}

async function printConfig(command: Command, { output }: ConfigOptions): Promise<void> {
  const config = await loadConfig(givenFlags(command));
  for (const warning of config.warnings) printWarning(formatProblem(warning));
  for (const warning of actionsOfOtherCommands(config.wishes)) printWarning(warning);
  for (const warning of await warningsOfAccess(config.settings)) {
    printWarning(accessWarningText(warning));
  }
  const { writeConfigToPath } = config.wishes;
  if (writeConfigToPath !== undefined) {
    await writeFile(writeConfigToPath, toConfigurationYaml(config.fields));
  } else if (output === 'json') printJson(configData(config));
  else if (output === 'yaml') printData(toConfigurationYaml(config.fields).trimEnd());
  else printPage(configTable(config));
  // Last, so that the settings are printed even if this version lacks the mode.
  assertBuilt(config.settings.mode);
}

/** The file may be for another machine: skip a kubeconfig that does not exist here. */
async function warningsOfAccess(settings: Settings): Promise<readonly AccessWarning[]> {
  const from = configuredSource(settings);
  if (from.kubeconfig !== undefined && existsSync(from.kubeconfig)) {
    return await accessWarnings(from);
  }
  return from.serverUrl === undefined ? [] : plainHttpWarnings(new URL(from.serverUrl));
}

function actionsOfOtherCommands({ cleanup, initOnly, version }: StartWishes): readonly string[] {
  const given = { '--cleanup': cleanup, '--init-only': initOnly, '--version': version };
  return Object.entries(given)
    .filter(([, isGiven]) => isGiven)
    .map(([flag]) => `${flag} is ignored: this command only prints the configuration`);
}
