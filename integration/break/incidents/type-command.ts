import { LabError } from '../../../lab/host/errors.ts';
import { enterNamespace } from '../../../lab/host/namespaces.ts';
import { silentProgress } from '../../../lab/host/progress.ts';
import { tryRun } from '../../../lab/host/run.ts';
import { inControlGroup } from '../../../lab/host/socket-groups.ts';
import { cleanupFlags } from '../../../lab/outside/start.ts';
import { provideTool } from '../../../lab/parts/build.ts';
import type { NodeName } from './question.ts';
import type { IncidentScene } from './scene.ts';
import type { Typed } from './typed.ts';

type Argv = readonly [string, ...string[]];

const DEADLINE_MS = 40_000;
/** As timeout(1) says it. */
const TIMED_OUT = 124;
const NODE_INDEX: Readonly<Record<NodeName, number>> = { node1: 1, node2: 2 };
/** The plugin starts the command in the pod of the agent, which nodes of the lab do not have. */
const PLUGIN = /^kubectl fairlead (.+?)(?: --node[= ](node[12]))?$/;

/** Types a command on a node as root: of Fairlead, of kubectl, or of the machine. */
export async function typeCommand(
  scene: IncidentScene,
  command: string,
  node: NodeName = 'node1',
): Promise<Typed> {
  const [, ofPlugin, at = node] = PLUGIN.exec(command) ?? [];
  if (ofPlugin !== undefined) {
    return await typeCommand(scene, `fairlead ${ofPlugin}`, at as NodeName);
  }
  const argv = await argvOf(scene, command, node);
  const env = { NO_COLOR: '1', COLUMNS: '80', KUBECONFIG: scene.lab.credentials.adminKubeconfig };
  try {
    const { signal } = scene;
    const { exitCode, stdout, stderr } = await tryRun(argv, {
      env,
      deadlineMs: DEADLINE_MS,
      signal,
    });
    return { command, exit: exitCode, text: `${stdout}${stderr}`.trimEnd() };
  } catch (error) {
    if (!(error instanceof LabError) || error.code !== 'LAB_COMMAND_TIMED_OUT') throw error;
    return { command, exit: TIMED_OUT, text: error.message };
  }
}

async function argvOf(scene: IncidentScene, command: string, node: NodeName): Promise<Argv> {
  const { lab } = scene;
  const words = command.split(' ').filter((word) => word !== '');
  const [program = '', ...rest] = words;
  if (program === 'kubectl') {
    const kubectl = await provideTool('kubectl', { progress: silentProgress });
    return enterNamespace(lab.namespacePath('fabric'), [kubectl, ...rest]);
  }
  const argv: Argv =
    program === 'fairlead' ? fairleadArgv(scene, rest, node) : ['sh', '-c', command];
  const entered = enterNamespace(lab.namespacePath(node), argv);
  const group = lab.socketGroup(NODE_INDEX[node]);
  return group === undefined ? entered : inControlGroup(group, entered);
}

function fairleadArgv(
  scene: IncidentScene,
  [verb = '', ...rest]: readonly string[],
  node: NodeName,
): Argv {
  const { lab, program } = scene;
  const sockets = lab.socketPlace(NODE_INDEX[node]);
  const flags = [
    `--run-folder=${scene.runFolder(node)}`,
    ...(verb === 'cleanup' && sockets !== undefined ? cleanupFlags(sockets) : []),
  ];
  return [process.execPath, ...program, verb, ...flags, ...rest];
}
