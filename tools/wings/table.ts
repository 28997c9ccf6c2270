/** What can be taken off, each on its own. docs/wings.md is the map of it. */
export interface WingRow {
  /** As in src/wings/wing-registry.ts and src/wings/commands.ts. */
  readonly name: string;
  readonly about: string;
  /** `finished`: gets repairs and no features. */
  readonly state: 'kept' | 'finished';
  /** A mode of forwarding, or commands. */
  readonly kind: 'mode' | 'commands';
  /** Everything that leaves with it, from the root of the project, each with `/` at the end. */
  readonly folders: readonly string[];
  /** Outside of src, what is about nothing else: pages, test beds, rows of CI. It leaves by hand. */
  readonly alsoOf: readonly string[];
  /** Wings that it is built on: it leaves with each of them. */
  readonly standsOn?: readonly string[];
}

export const WINGS: readonly WingRow[] = [
  {
    name: 'iptables',
    about: "mode iptables: kube-proxy's chains, for machines that cannot use nftables",
    state: 'finished',
    kind: 'mode',
    folders: ['src/wings/iptables/', 'src/linux/iptables/'],
    alsoOf: [
      'docs/iptables.md',
      'integration/compare/iptables/',
      'integration/break/drift/',
      'deploy/iptables-legacy/',
    ],
  },
  {
    name: 'ipvs',
    about: 'mode ipvs: virtual servers in front of nftables, with schedulers',
    state: 'finished',
    kind: 'mode',
    folders: ['src/wings/ipvs/', 'src/linux/ipvs/'],
    alsoOf: ['docs/ipvs.md', 'docs/ipvs.svg', 'tools/ci/guest-parts.ts'],
  },
  {
    name: 'ebpf',
    about:
      'modes socket-ebpf and tc-ebpf: programs in front of nftables; why the kernel drops; command size',
    state: 'kept',
    kind: 'mode',
    folders: ['src/wings/ebpf/', 'src/linux/ebpf/'],
    alsoOf: ['docs/ebpf.md', 'bpf/', 'deploy/ebpf/', 'integration/tests/socket-hooks/'],
  },
  {
    name: 'userspace',
    about: 'mode userspace: a process in front of nftables that connects and copies TCP',
    state: 'finished',
    kind: 'mode',
    folders: ['src/wings/userspace/', 'src/linux/userspace/'],
    alsoOf: [
      'docs/userspace.md',
      'docs/userspace.svg',
      'docs/userspace/',
      'bench/forwarding/',
      'deploy/userspace/',
      'integration/break/traps/',
      'integration/tests/userspace/',
    ],
  },
  {
    name: 'top',
    about: 'command top: the busiest Services of a node, and what measures them',
    state: 'kept',
    kind: 'commands',
    folders: ['src/wings/top/', 'src/linux/top/'],
    alsoOf: ['docs/top.md', 'integration/measure/top/', 'integration/tests/top/'],
  },
  {
    name: 'view',
    about: 'command view: the page of a node',
    state: 'kept',
    kind: 'commands',
    folders: ['src/wings/view/'],
    alsoOf: [
      'docs/view.md',
      'integration/measure/view/',
      'integration/tests/view/',
      'integration/tests/view-data/',
    ],
    standsOn: ['top'],
  },
  {
    name: 'outside',
    about: 'commands outside and shell: machines outside the cluster, pods through the API server',
    state: 'kept',
    kind: 'commands',
    folders: ['src/wings/outside/', 'src/linux/outside/'],
    alsoOf: [
      'docs/outside.md',
      'docs/outside.svg',
      'docs/shell.md',
      'conformance/scenarios/outside/',
      'integration/measure/shell/',
      'integration/tests/outside/',
      'integration/tests/outside-init/',
      'integration/tests/shell/',
    ],
  },
  {
    name: 'kubectl',
    about: 'the plugin kubectl fairlead: the commands of every node at once, and swap',
    state: 'kept',
    kind: 'commands',
    folders: ['src/wings/kubectl/', 'src/linux/kubectl/'],
    alsoOf: ['docs/kubectl.md', 'e2e/plugin/', 'e2e/swap/', 'integration/tests/kubectl/'],
  },
];
