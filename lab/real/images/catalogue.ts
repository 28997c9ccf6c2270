import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { LabError } from '../../host/errors.ts';
import type { Parts } from '../../parts/build.ts';
import { COREDNS_VERSION, type RealParts } from '../../parts/real.ts';
import { architecture, type ImageDescription } from './description.ts';
import { busyboxLinks } from './root.ts';

export const PAUSE_IMAGE = 'registry.k8s.io/pause:3.10.2';
export const DNS_IMAGE = `fairlead.test/coredns:${COREDNS_VERSION}`;
const AGNHOST_IMAGE = 'registry.k8s.io/e2e-test-images/agnhost:2.66.1';
/** DNS specs run dig and getent in this one too; it needs nothing that agnhost does not have. */
const DNS_TESTING_IMAGE = 'registry.k8s.io/e2e-test-images/glibc-dns-testing:2.1.1';
const BUSYBOX_IMAGE = 'registry.k8s.io/e2e-test-images/busybox:1.37.0-2';
const WINDOW_PART = 'regression-issue-74839';
const WINDOW_IMAGE = `registry.k8s.io/e2e-test-images/${WINDOW_PART}:1.5`;
/** Specs that read the rules of a node do so from this one. */
const IPTABLES_IMAGE = 'registry.k8s.io/build-image/distroless-iptables:v0.9.7';

/** Names that specs of one version ask for: the next one has other tags. */
export const TEST_IMAGES: readonly string[] = [
  PAUSE_IMAGE,
  AGNHOST_IMAGE,
  DNS_TESTING_IMAGE,
  BUSYBOX_IMAGE,
  WINDOW_IMAGE,
  IPTABLES_IMAGE,
];

/**
 * Without the names nft lists protocols as numbers. kube-proxy compares them with what it wrote, does
 * not recognize its own elements and deletes them.
 */
const PROTOCOLS = 'tcp 6 TCP\nudp 17 UDP\nsctp 132 SCTP\nicmp 1 ICMP\nipv6-icmp 58 IPv6-ICMP\n';

const AGNHOST_TOOLS = 'busybox conntrack curl dash dig getent ip nc.openbsd wget'.split(' ');

/** What every cluster with real nodes has: pods' first process, DNS, and upstream's test pods. */
export async function commonImages(parts: Parts, real: RealParts): Promise<ImageDescription[]> {
  const links = await busyboxLinks(program('busybox'));
  const ruleset = rulesetPrograms();
  return [
    { names: [PAUSE_IMAGE], files: { '/pause': real.pause }, entrypoint: ['/pause'] },
    { names: [DNS_IMAGE], files: { '/coredns': real.coredns }, entrypoint: ['/coredns'] },
    { names: [BUSYBOX_IMAGE], programs: [program('busybox')], links, entrypoint: ['sh'] },
    {
      names: [AGNHOST_IMAGE, DNS_TESTING_IMAGE],
      files: { '/agnhost': parts.agnhost },
      // Debian's busybox, as a shell, runs its own tools whatever /bin has, and its nc does not know
      // the specs' options. So another shell, which runs what it finds.
      links: { ...links, '/bin/sh': 'dash', '/bin/nc': 'nc.openbsd', '/agnhost-2': 'agnhost' },
      // Its wget (1.35.0) dies of the option -T, which the specs give.
      programs: AGNHOST_TOOLS.map(program),
      // One answer to one question: GNU's wget would ask twenty times.
      texts: { '/etc/wgetrc': 'tries = 1\n' },
      entrypoint: ['/agnhost'],
      command: ['pause'],
    },
    {
      names: [WINDOW_IMAGE],
      files: { [`/${WINDOW_PART}`]: real[WINDOW_PART] },
      entrypoint: [`/${WINDOW_PART}`],
    },
    {
      ...ruleset,
      names: [IPTABLES_IMAGE],
      links: { ...links, ...ruleset.links },
      entrypoint: ['sh'],
    },
  ];
}

/** kube-proxy, with the programs it starts. */
export function kubeProxyImage(
  names: ImageDescription['names'],
  kubeProxy: string,
): ImageDescription {
  const base = rulesetPrograms();
  const files = { '/usr/local/bin/kube-proxy': kubeProxy };
  return { ...base, names, files, entrypoint: ['/usr/local/bin/kube-proxy'] };
}

/**
 * nft, and iptables on the nft backend with its extensions; those are loaded by name, not linked, and
 * some want a library that the program itself does not.
 */
function rulesetPrograms(): Pick<ImageDescription, 'programs' | 'links' | 'texts'> {
  const folder = `/usr/lib/${architecture().triplet}/xtables`;
  const extensions = readdirSync(folder).map((name) => join(folder, name));
  const tools = ['iptables', 'ip6tables'].flatMap((name) => [
    name,
    `${name}-save`,
    `${name}-restore`,
  ]);
  return {
    programs: [...['nft', 'xtables-nft-multi', 'conntrack', 'busybox'].map(program), ...extensions],
    texts: { '/etc/protocols': PROTOCOLS },
    links: {
      '/bin/sh': 'busybox',
      ...Object.fromEntries(tools.map((name) => [`/usr/sbin/${name}`, 'xtables-nft-multi'])),
    },
  };
}

/** Path of a program of this machine. */
function program(name: string): string {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  const path = folders
    .map((folder) => join(folder, name))
    .find((candidate) => existsSync(candidate));
  if (path) return path;
  throw new LabError('LAB_TOOL_MISSING', `${name} is not installed`, {
    next: 'install the Debian packages for real nodes listed in docs/lab.md',
  });
}
