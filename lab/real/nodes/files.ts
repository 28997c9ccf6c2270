import { chmod, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cgroupName, hasSeparateHierarchies, version2Path } from '../../host/cgroups.ts';
import { nodeName, podCidr } from '../../network/plan.ts';
import { PAUSE_IMAGE } from '../images/catalogue.ts';
import { DNS_ADDRESS, DNS_DOMAIN, REGISTRY } from '../plan.ts';

/** Where Debian's containernetworking-plugins has them. */
const PLUGIN_FOLDER = '/usr/lib/cni';
const POD_LINK_PLUGIN = 'lab-ptp';
/** Where a node finds the control group, of version 2, that all its pods are below. */
export const NODE_GROUP = '/run/lab-node-cgroup';

export interface NodeFiles {
  readonly folder: string;
  readonly containerdConfig: string;
  readonly kubeletConfig: string;
  /** Socket of the node's containerd, as a path on the machine. */
  readonly containerdSocket: string;
  /** Folders and files of this node's own: place in its root, path on the machine. */
  readonly mounts: readonly (readonly [place: string, source: string])[];
}

/** Writes what a node reads, and makes the folders in which it keeps what it writes. */
export async function writeNodeFiles(of: {
  lab: string;
  folder: string;
  nodeIndex: number;
}): Promise<NodeFiles> {
  const { folder } = of;
  const inFolder = (name: string): string => join(folder, name);
  const folders = {
    '/var/lib/kubelet': inFolder('kubelet'),
    '/var/lib/containerd': inFolder('containerd'),
    '/run/containerd': inFolder('containerd-run'),
    '/var/log/pods': inFolder('pod-logs'),
    '/var/log/containers': inFolder('container-logs'),
    '/etc/cni/net.d': inFolder('cni'),
    '/var/lib/cni': inFolder('cni-state'),
    '/run/netns': inFolder('netns'),
  };
  const group = version2Path(cgroupName({ lab: of.lab, role: nodeName(of.nodeIndex) }));
  const plugins = inFolder('cni-plugins');
  for (const path of [...Object.values(folders), plugins]) await mkdir(path, { recursive: true });
  await writePlugins(plugins);
  await writeFile(
    inFolder('cni/10-lab.conflist'),
    JSON.stringify(podNetwork(of.nodeIndex), null, 2),
  );
  await writeFile(inFolder('resolv.conf'), `nameserver ${DNS_ADDRESS}\n`);
  const registries = inFolder('registries');
  await writeRegistries(registries);
  await writeFile(inFolder('containerd.toml'), containerdConfig({ plugins, registries }));
  await writeFile(inFolder('kubelet.json'), JSON.stringify(kubeletConfig(of), null, 2));
  return {
    folder,
    containerdConfig: inFolder('containerd.toml'),
    kubeletConfig: inFolder('kubelet.json'),
    containerdSocket: inFolder('containerd-run/containerd.sock'),
    mounts: [
      ...Object.entries(folders),
      ['/etc/resolv.conf', inFolder('resolv.conf')],
      ...(group === undefined ? [] : [[NODE_GROUP, group] as const]),
    ],
  };
}

/** Names the lab's registry as one that speaks HTTP; containerd takes any other for HTTPS. */
async function writeRegistries(folder: string): Promise<void> {
  await mkdir(join(folder, REGISTRY), { recursive: true });
  const host = `[host."http://${REGISTRY}"]\n  capabilities = ["pull", "resolve"]\n`;
  await writeFile(join(folder, REGISTRY, 'hosts.toml'), host);
}

/** Debian's plugins, and one in front of `ptp` that spares each pod a second or two. */
async function writePlugins(folder: string): Promise<void> {
  for (const name of await readdir(PLUGIN_FOLDER)) {
    await symlink(join(PLUGIN_FOLDER, name), join(folder, name));
  }
  const path = join(folder, POD_LINK_PLUGIN);
  await writeFile(path, POD_LINK_SCRIPT);
  await chmod(path, 0o755);
}

/** A new namespace has duplicate address detection on, and `ptp` waits for its end. */
const POD_LINK_SCRIPT = `#!/bin/sh
if [ "$CNI_COMMAND" = ADD ]; then
  nsenter --net="$CNI_NETNS" sysctl -q -w net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0 >&2
fi
exec ${PLUGIN_FOLDER}/ptp
`;

function podNetwork(nodeIndex: number): object {
  const cidr = podCidr(nodeIndex);
  const ipam = {
    type: 'host-local',
    ranges: [[{ subnet: cidr.ipv4 }], [{ subnet: cidr.ipv6 }]],
    routes: [{ dst: '0.0.0.0/0' }, { dst: '::/0' }],
  };
  return {
    cniVersion: '0.4.0',
    name: 'lab',
    plugins: [
      { type: POD_LINK_PLUGIN, ipMasq: false, ipam },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
}

function containerdConfig(folders: {
  readonly plugins: string;
  readonly registries: string;
}): string {
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  return `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "/run/containerd/containerd.sock"
[${cri}]
  sandbox_image = "${PAUSE_IMAGE}"
  # Where root may not lower the score, runc would die of the attempt.
  restrict_oom_score_adj = true
[plugins."io.containerd.internal.v1.opt"]
  path = "/var/lib/containerd/opt"
[${cri}.containerd]
  snapshotter = "overlayfs"
[${cri}.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[${cri}.containerd.runtimes.runc.options]
  SystemdCgroup = false
[${cri}.cni]
  bin_dir = "${folders.plugins}"
  conf_dir = "/etc/cni/net.d"
[${cri}.registry]
  config_path = "${folders.registries}"
`;
}

function kubeletConfig(of: { lab: string; folder: string; nodeIndex: number }): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    ...(hasSeparateHierarchies() ? { failCgroupV1: false } : {}),
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${cgroupName({ lab: of.lab, role: nodeName(of.nodeIndex) })}`,
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    // Only what is in the lab's network can ask, and that is the API server and the tests.
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    clusterDNS: [DNS_ADDRESS],
    clusterDomain: DNS_DOMAIN,
    resolvConf: join(of.folder, 'resolv.conf'),
    volumePluginDir: '/var/lib/kubelet/volume-plugins',
    failSwapOn: false,
    // Images cannot be pulled again, and the disk is the machine's own business.
    imageGCHighThresholdPercent: 100,
    evictionHard: {
      'memory.available': '100Mi',
      'nodefs.available': '0%',
      'imagefs.available': '0%',
      'nodefs.inodesFree': '0%',
    },
    serializeImagePulls: false,
  };
}
