import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeFiles } from './files.ts';

export interface NodeScript {
  readonly nodeName: string;
  readonly files: NodeFiles;
  readonly containerdLog: string;
  readonly kubelet: readonly string[];
  readonly kubeletLog: string;
  /** A pipe: a line comes out of it when containerd knows the images. */
  readonly imported: string;
}

/**
 * What a kubelet sets for the whole machine, and to what. It reads before it writes, so it is shown
 * the value it wants and the machine keeps its own.
 */
const KERNEL_SETTINGS: Readonly<Record<string, string>> = {
  'vm/overcommit_memory': '1',
  'kernel/panic': '10',
  'kernel/panic_on_oops': '1',
  'kernel/keys/root_maxkeys': '1000000',
  'kernel/keys/root_maxbytes': '25000000',
};

/** Where the programs of a node create files outside of their configured folders. */
const OWN_LAYERS = ['/etc', '/run', '/var/lib', '/var/log'];

/** The first process of a node. A shell: it mounts, starts two programs and buries orphans. */
export function nodeScript(node: NodeScript): string {
  const { files } = node;
  const cgroups = join(files.folder, 'cgroups');
  const lines = [
    'set -e',
    'mount --make-rprivate /',
    `hostname ${node.nodeName}`,
    // /sys shows the network namespace it was mounted in; the control groups below it stay.
    `mkdir -p ${cgroups}`,
    `mount --rbind /sys/fs/cgroup ${cgroups}`,
    'mount -t sysfs sysfs /sys',
    `mount --rbind ${cgroups} /sys/fs/cgroup`,
    ...OWN_LAYERS.flatMap((place) => ownLayer(files, place)),
    ...files.mounts.map(([place, source]) => `mount --bind ${source} ${place}`),
    ...Object.entries(KERNEL_SETTINGS).flatMap(([name, value]) => shownSetting(files, name, value)),
    // Volumes are mounted by the kubelet and must be seen in containers that run already.
    'mount --make-rshared /',
    `containerd --config ${files.containerdConfig} >>${node.containerdLog} 2>&1 &`,
    `read -r line <${node.imported}`,
    `${node.kubelet.join(' ')} >>${node.kubeletLog} 2>&1 &`,
    'wait',
  ];
  return `${lines.join('\n')}\n`;
}

/** The node sees the machine's folder; what it writes there stays in the node's. */
function ownLayer(files: NodeFiles, place: string): string[] {
  const layer = join(files.folder, 'layers', place.replaceAll('/', '-').slice(1));
  const inPlace = files.mounts
    .map(([target]) => target)
    .filter((path) => path.startsWith(`${place}/`));
  const options = `lowerdir=${place},upperdir=${layer}/upper,workdir=${layer}/work`;
  return [
    `mkdir -p ${layer}/upper ${layer}/work`,
    `mount -t overlay overlay -o ${options} ${place}`,
    ...inPlace.filter((path) => !path.endsWith('.conf')).map((path) => `mkdir -p ${path}`),
  ];
}

function shownSetting(files: NodeFiles, name: string, value: string): string[] {
  if (!existsSync(`/proc/sys/${name}`)) return [];
  const shown = join(files.folder, name.replaceAll('/', '-'));
  return [`echo ${value} >${shown}`, `mount --bind ${shown} /proc/sys/${name}`];
}
