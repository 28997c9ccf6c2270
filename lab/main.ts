import { Command, InvalidArgumentError, Option } from 'commander';
import { runOnHost } from './commands/enter.ts';
import { runFairlead } from './commands/fairlead.ts';
import { DEFAULT_LAB } from './commands/hints.ts';
import { scale } from './commands/scale.ts';
import { formatStatus, readStatus } from './commands/status.ts';
import { stranger } from './commands/stranger.ts';
import { tourCommand } from './commands/tour.ts';
import { type UpOptions, up } from './commands/up.ts';
import { upReal } from './commands/up-real.ts';
import { viewHost } from './commands/view.ts';
import { exitOnLabError } from './host/exit-on-lab-error.ts';
import { labFolder } from './host/folders.ts';
import { interruption } from './host/interruption.ts';
import { namespacePath, releaseNamespaceFolder } from './host/namespaces.ts';
import { terminalProgress } from './host/progress.ts';
import { formatTable } from './host/table.ts';
import { kernelCommand } from './kernel/commands.ts';
import { removeLab } from './lab.ts';
import { readEscapes } from './network/capture.ts';
import { DEFAULT_NETWORK, NETWORK_VARIANTS } from './network/variants/registry.ts';
import { API_VERSIONS, NEWEST_API_VERSION } from './parts/api-version.ts';
import { provideParts, provideTool } from './parts/build.ts';
import { missingOf, PART_GROUPS, type PartGroup, provideGroups } from './parts/groups.ts';
import { FAIRLEAD_NAMES } from './proxies/fairlead.ts';
import { PROXY_VARIANTS } from './proxies/registry.ts';

const VIEW_PORT = 8080;
const nameOption = (): Option => new Option('--name <lab>', 'which lab').default(DEFAULT_LAB);
const outputOption = (): Option =>
  new Option('-o, --output <format>', 'for a person or for a script')
    .choices(['text', 'json'])
    .default('text');

const program = new Command('lab')
  .description('A real Kubernetes cluster on one machine, in network namespaces')
  .showHelpAfterError()
  .enablePositionalOptions();

program
  .command('build')
  .description('build the programs of the cluster that are not in the cache')
  .addOption(
    new Option('--also <groups...>', 'also programs that only some commands need').choices(
      PART_GROUPS,
    ),
  )
  .option('--missing', 'list the programs that are not built, one per line, and build nothing')
  .action(async (options: { also?: PartGroup[]; missing?: true }) => {
    const groups = options.also ?? [];
    if (options.missing) {
      for (const title of await missingOf(groups)) console.log(title);
      return;
    }
    const parts = await provideGroups(groups, { progress: terminalProgress() });
    console.log(formatTable([['PROGRAM', 'PATH'], ...Object.entries(parts)]));
  });

program
  .command('up')
  .description('build what is missing, start a cluster and a demo Service')
  .addOption(nameOption())
  .option('--nodes <count>', 'how many nodes (default: 2, or 3 real ones)', wholeNumber)
  .addOption(
    new Option('--pod-network <kind>', 'a route to each pod, or a bridge on each node')
      .choices(['routed', 'bridge'])
      .default('routed'),
  )
  .addOption(
    new Option('--network <name>', 'the network between the nodes, and the filters on them')
      .choices(NETWORK_VARIANTS.map((variant) => variant.name))
      .default(DEFAULT_NETWORK),
  )
  .addOption(
    new Option('--proxy <name>', 'the node proxy to run on every node')
      .choices(['none', ...PROXY_VARIANTS.map((variant) => variant.name)])
      .default('none'),
  )
  .addOption(
    new Option('--api <version>', 'the Kubernetes version that the control plane emulates')
      .choices([...API_VERSIONS])
      .default(NEWEST_API_VERSION)
      .conflicts('real'),
  )
  .addOption(
    new Option('--outside [proxy]', 'run Fairlead on `machine`, which is no node of the cluster')
      .choices([...FAIRLEAD_NAMES])
      .preset(FAIRLEAD_NAMES[0])
      .conflicts('real'),
  )
  .option('--real', 'real nodes: kubelet, containerd, and the proxy as a pod', false)
  .option('--services <count>', 'Services created before the nodes start', wholeNumber, 0)
  .option('--endpoints <count>', 'endpoints of each of them', wholeNumber, 5)
  .action(async (options: UpOptions & { real: boolean }) => {
    const context = { progress: terminalProgress(), signal: interruption() };
    console.log(await (options.real ? upReal(options, context) : up(options, context)));
  });

program
  .command('status')
  .description('list the labs of this machine, their hosts and processes')
  .addOption(outputOption())
  .action(async (options: { output: 'text' | 'json' }) => {
    const labs = await readStatus();
    console.log(options.output === 'json' ? JSON.stringify(labs, null, 2) : formatStatus(labs));
  });

program
  .command('kubectl')
  .description("the lab's kubectl, as administrator")
  .addOption(nameOption())
  .passThroughOptions()
  .allowUnknownOption()
  .argument('[args...]')
  .action(async (args: string[], options: { name: string }) => {
    const kubectl = await provideTool('kubectl', { progress: terminalProgress() });
    const kubeconfig = `--kubeconfig=${labFolder(options.name)}/admin.kubeconfig`;
    const host = { lab: options.name, role: 'fabric' };
    process.exitCode = await runOnHost(host, [kubectl, kubeconfig, ...args]);
  });

program
  .command('exec')
  .description('run a command on a host of the lab: fabric, node1, client, machine, default-web-1')
  .addOption(nameOption())
  .passThroughOptions()
  .argument('<host>')
  .argument('<command...>')
  .action(async (host: string, command: [string, ...string[]], options: { name: string }) => {
    const [first, ...rest] = command;
    const argv = first === '--' ? (rest as [string, ...string[]]) : command;
    process.exitCode = await runOnHost({ lab: options.name, role: host }, argv);
  });

program
  .command('fairlead')
  .description('run a Fairlead command on a node or on `machine`: status, services, diff')
  .addOption(nameOption())
  .passThroughOptions()
  .allowUnknownOption()
  .argument('<node>')
  .argument('<command...>')
  .action(async (node: string, command: string[], options: { name: string }) => {
    process.exitCode = await runFairlead({ lab: options.name, role: node }, command);
  });

program
  .command('view')
  .description('show what a node does in a browser of this machine: prints the address')
  .addOption(nameOption())
  .option('--port <number>', 'of this machine and of the node', wholeNumber, VIEW_PORT)
  .argument('[node]', 'a node, or `machine`', 'node1')
  .action(async (node: string, options: { name: string; port: number }) => {
    process.exitCode = await viewHost({ lab: options.name, role: node }, options.port);
  });

program
  .command('scale')
  .description('set the number of pods behind the Service that `lab up` created')
  .addOption(nameOption())
  .argument('<service>')
  .argument('<count>', 'how many', count)
  .action(async (service: string, count: number, options: { name: string }) => {
    const parts = await provideParts({ progress: terminalProgress() });
    console.log(await scale({ lab: options.name, service, count, parts }));
  });

program
  .command('stranger')
  .description('set up a new machine with systemd from a kubeconfig to a name, each command timed')
  .action(async () => {
    console.log(await stranger({ progress: terminalProgress(), signal: interruption() }));
  });

program.addCommand(kernelCommand());
program.addCommand(tourCommand());

program
  .command('escapes')
  .description('list packets to Service addresses that left a node untranslated')
  .addOption(nameOption())
  .addOption(outputOption())
  .action(async (options: { name: string; output: 'text' | 'json' }) => {
    const escapes = await readEscapes(namespacePath({ lab: options.name, role: 'fabric' }));
    const rows = escapes.map((e) => [e.address, `${e.port}`, e.protocol, `${e.packets}`]);
    const table = formatTable([['ADDRESS', 'PORT', 'PROTOCOL', 'PACKETS'], ...rows]);
    console.log(options.output === 'json' ? JSON.stringify(escapes, null, 2) : table);
  });

program
  .command('down')
  .description('stop a lab and remove everything it created')
  .addOption(nameOption())
  .option('--all', 'every lab of this machine, including what a killed process left', false)
  .action(async (options: { name: string; all: boolean }) => {
    const labs = options.all ? (await readStatus()).map((status) => status.lab) : [options.name];
    for (const lab of labs) {
      await terminalProgress().step(`remove lab '${lab}'`, () => removeLab(lab));
    }
    if (options.all) await releaseNamespaceFolder();
  });

function count(text: string): number {
  return text === '0' ? 0 : wholeNumber(text);
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('not a whole number');
  return value;
}

try {
  await program.parseAsync();
} catch (error) {
  exitOnLabError(error, { program: 'lab', exitCode: 1 });
}
