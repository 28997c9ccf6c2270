import { constants, existsSync } from 'node:fs';
import { mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cgroupName, makeCgroup } from '../../host/cgroups.ts';
import { namespacePath } from '../../host/namespaces.ts';
import { assertRunning, type Daemon, startDaemon } from '../../host/processes.ts';
import { run } from '../../host/run.ts';
import { until } from '../../host/until.ts';
import { nodeAddress, nodeName } from '../../network/plan.ts';
import { type NodeFiles, writeNodeFiles } from './files.ts';
import { nodeScript } from './script.ts';

export interface NodeStart {
  readonly lab: string;
  readonly nodeIndex: number;
  readonly labFolder: string;
  readonly logFolder: string;
  readonly kubelet: string;
  readonly kubeconfig: string;
  /** Archives that the node's containerd is to know before the kubelet asks for them. */
  readonly images: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

const CONTAINERD_DEADLINE_MS = 30_000;
const IMPORT_DEADLINE_MS = 180_000;

/**
 * A node as a machine has it: containerd and kubelet behind namespaces of their own for network,
 * mounts, processes, host name and IPC. When its first process exits, the kernel kills all others.
 */
export async function startNode(start: NodeStart): Promise<Daemon> {
  const place = { lab: start.lab, role: nodeName(start.nodeIndex) };
  const folder = join(start.labFolder, 'nodes', place.role);
  await mkdir(folder, { recursive: true });
  await makeCgroup(cgroupName(place));
  const files = await writeNodeFiles({ lab: start.lab, nodeIndex: start.nodeIndex, folder });
  const imported = join(folder, 'images-imported');
  await run(['mkfifo', imported]);
  const script = join(folder, 'start.sh');
  await writeFile(script, nodeScript({ ...scriptOf(start, files), imported }));
  const daemon = startDaemon({
    name: place.role,
    namespacePath: namespacePath(place),
    logFile: join(start.logFolder, `${place.role}.log`),
    argv: [
      'unshare',
      '--mount',
      '--uts',
      '--pid',
      '--ipc',
      '--fork',
      '--kill-child',
      '--mount-proc',
      'sh',
      script,
    ],
  });
  await importImages(start, { daemon, socket: files.containerdSocket });
  await tellImported(imported);
  return daemon;
}

/** Non-blocking: the node's first process already waits for the line, or has exited. */
async function tellImported(pipe: string): Promise<void> {
  await using writer = await open(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
  await writer.write('\n');
}

function scriptOf(start: NodeStart, files: NodeFiles) {
  const name = nodeName(start.nodeIndex);
  const address = nodeAddress(start.nodeIndex);
  return {
    nodeName: name,
    files,
    containerdLog: join(start.logFolder, `${name}-containerd.log`),
    kubeletLog: join(start.logFolder, `${name}-kubelet.log`),
    kubelet: [
      start.kubelet,
      `--config=${files.kubeletConfig}`,
      `--kubeconfig=${start.kubeconfig}`,
      `--hostname-override=${name}`,
      `--node-ip=${address.ipv4},${address.ipv6}`,
      '--v=2',
    ],
  };
}

async function importImages(
  start: NodeStart,
  node: { daemon: Daemon; socket: string },
): Promise<void> {
  await until(
    async () => {
      await assertRunning(node.daemon);
      return existsSync(node.socket);
    },
    {
      what: `containerd of ${node.daemon.name}`,
      deadlineMs: CONTAINERD_DEADLINE_MS,
      signal: start.signal,
    },
  );
  for (const image of start.images) {
    await run(
      ['ctr', `--address=${node.socket}`, '--namespace=k8s.io', 'images', 'import', image],
      {
        deadlineMs: IMPORT_DEADLINE_MS,
        signal: start.signal,
      },
    );
  }
}
