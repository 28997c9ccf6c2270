import { costParts } from './cost-parts.ts';
import { guestParts } from './guest-parts.ts';
import { BOTH, NIGHTLY, npm, part, RUN } from './make-part.ts';
import type { Part, Plan } from './part.ts';
import { FIRST_PROXY, PROXIES, type ProxyBudget, withBudget } from './proxies.ts';

/** Names of modes are long enough for a table without the name of the project. */
function short(proxy: string): string {
  return proxy.replace(/^fairlead-/, '');
}

/** One quick row of each kind of fault. */
const QUICK_FAULTS =
  '^(API server killed|reset in the middle of a line|restart of a synced node|5 x kill -9|' +
  'table deleted|cleanup|netlink calls fail)$';

/** Scenarios with Fairlead outside of the cluster need a lab and starts of their own: by night. */
const INSIDE = '^(?!outside/)';

/** Stands for the release before, until there is one. */
const EARLIER_COMMIT = 'a99fb1ee';
const OF_FIRST_PROXY = ['--proxy', FIRST_PROXY];
const SOME_SABOTAGES =
  '^(one-service-300ms-late|everything-300ms-late|lose-one-in-twenty|reject-turned-silent)$';

/** Sums of seconds are held by limits.ts; docs/ci.md says how a budget is chosen. */
export const PARTS: readonly Part[] = [
  ...preparation(),
  part('checks', {
    about:
      'types, lint, layers, texts, names of modes, file maps, links, lock files, dead code, the core without wings',
    command: npm('check'),
    plans: BOTH,
    seconds: 40,
  }),
  part('tests-core', {
    about: 'the unit and root tests of the core, in a copy without wings',
    command: ['npm', 'test', '--', '--core-alone'],
    plans: BOTH,
    seconds: 160,
  }),
  part('tests-others', {
    about: 'the tests of wings, test beds and tools, and those of parts together',
    command: ['npm', 'test', '--', '--but-core'],
    plans: BOTH,
    seconds: 372,
  }),
  part('wings', {
    about: 'each wing taken off: types and dead code',
    command: npm('check', 'wings'),
    plans: NIGHTLY,
    seconds: 100,
  }),
  ...policy(),
  ...conformanceOnLanding(),
  ...guestParts(),
  ...conformanceByNight(),
  ...versionSkew(),
  ...sabotages(),
  ...faults(),
  ...iptables(),
  ...metrics(),
  ...costParts(),
  ...realNodes(),
];

/** The first two are done by the script before there is a Node to run this. */
function preparation(): Part[] {
  const labParts = {
    about: 'build etcd, Kubernetes, the other Go programs, and a kernel with IPVS',
    budget: { cached: 5, cold: 1_725 },
  };
  const build = (...also: string[]): [string, ...string[]] =>
    npm('lab', 'build', '--also', ...also);
  return [
    {
      name: 'debian-packages',
      about: 'install what is missing',
      plans: BOTH,
      budget: { cached: 5, cold: 240 },
    },
    {
      name: 'npm-packages',
      about: 'npm ci',
      plans: BOTH,
      budget: { cached: 38, cold: 173 },
    },
    {
      name: 'lab-parts',
      ...labParts,
      command: build('oracle', 'bench', 'dns', 'helm', 'systemd', 'kernel'),
      plans: RUN,
    },
    {
      name: 'lab-parts-all',
      ...labParts,
      command: build(
        'oracle',
        'bench',
        'earlier-control-plane',
        'earlier-kube-proxy',
        'helm',
        'helm-3',
        'systemd',
        'kernel',
        'real',
        'e2e',
      ),
      plans: NIGHTLY,
      budget: { cached: 5, cold: 4_670 },
    },
    part('kernel-programs', {
      about: 'compile the eBPF programs',
      command: npm('bpf'),
      plans: BOTH,
      seconds: 10,
    }),
  ];
}

function policy(): Part[] {
  return [
    part('oracle', {
      about: "policy against upstream's own code, 5,000 clusters",
      command: npm('compare', 'oracle', '--states', '5000', '--seed', '1'),
      plans: RUN,
      seconds: 13,
    }),
    part('oracle-coverage', {
      about: "policy against upstream's own code, 20,000 clusters of a new seed, with coverage",
      command: npm('compare', 'oracle', '--states', '20000', '--coverage'),
      plans: NIGHTLY,
      seconds: 120,
    }),
    part('oracle-planted', {
      about: 'every bug planted in the policy is found',
      command: npm('compare', 'oracle', '--planted', '--seed', '1'),
      plans: NIGHTLY,
      seconds: 240,
    }),
    part('fuzz', {
      about: 'malformed objects and watches, 8,000 of them, half in protobuf',
      command: npm('break', 'fuzz', '--objects', '8000', '--seed', '1'),
      plans: RUN,
      seconds: 12,
    }),
    part('fuzz-long', {
      about: 'malformed objects and watches, 100,000 of a new seed',
      command: npm('break', 'fuzz', '--objects', '100000'),
      plans: NIGHTLY,
      seconds: 90,
    }),
    part('fuzz-planted', {
      about: 'every fault planted in the model is found',
      command: npm('break', 'fuzz', '--planted', '--seed', '1'),
      plans: NIGHTLY,
      seconds: 240,
    }),
  ];
}

function conformanceOnLanding(): Part[] {
  const differing = withBudget('differing').map(({ name, seconds }) =>
    part(`differing-${short(name)}`, {
      about: `the scenarios on nodes in which ${name} could differ`,
      command: npm(
        'conformance',
        ...['--proxy', name, '--differing', ...cover(name), '--only', INSIDE],
      ),
      plans: RUN,
      seconds,
    }),
  );
  const first = PROXIES.filter(({ name }) => name === FIRST_PROXY);
  return [...first.map((proxy) => conformance(proxy, RUN)), ...differing];
}

function cover(proxy: string): string[] {
  return PROXIES.some(({ name, onlyKnown }) => name === proxy && onlyKnown) ? ['--cover', '0'] : [];
}

function conformanceByNight(): Part[] {
  const others = PROXIES.filter(({ name }) => name !== FIRST_PROXY);
  return [
    // The same proxy as before each merge; what it does on nodes needs no wing.
    part('conformance-core', {
      about: `every scenario on nodes, with ${FIRST_PROXY} in a copy without wings`,
      command: npm('core-alone', 'conformance/main.ts', ...OF_FIRST_PROXY, '--only', INSIDE),
      plans: NIGHTLY,
      seconds: 240,
    }),
    part('conformance-outside', {
      about: `every scenario outside of the cluster, with ${FIRST_PROXY}`,
      command: npm('conformance', ...OF_FIRST_PROXY, '--only', '^outside/'),
      plans: NIGHTLY,
      seconds: 90,
    }),
    ...others.map((proxy) => conformance(proxy, NIGHTLY)),
    ...['vxlan', 'docker', 'pod-policy', 'two-uplinks'].map((network) =>
      part(`conformance-${network}`, {
        about: `every scenario, with ${FIRST_PROXY} on the network ${network}`,
        command: npm('conformance', ...OF_FIRST_PROXY, '--network', network),
        plans: NIGHTLY,
        seconds: 240,
      }),
    ),
  ];
}

function versionSkew(): Part[] {
  return [
    part('skew', {
      about: 'scenarios with API servers from 1.33 to 1.37',
      command: npm('compare', 'skew'),
      plans: NIGHTLY,
      seconds: 300,
    }),
    part('tests-by-night', {
      about:
        'tests that take long: an API server upgrade, a history, the npm package, networks of the lab, capabilities, other modes outside of a cluster, healthy runs, the page in Chromium, probes under load, the values of the chart, Helm 3, alerts by a real Prometheus, the kubectl plugin on real nodes, a release made twice, pulled from a registry and loaded by Docker, the image for arm64',
      command: ['npm', 'test', '--', '.nightly.'],
      plans: NIGHTLY,
      seconds: 2_000,
    }),
  ];
}

function conformance(proxy: ProxyBudget, plans: readonly Plan[]): Part {
  const { name, conformance: seconds, inGuest } = proxy;
  const place = inGuest ? ', in a kernel with IPVS' : '';
  return part(`conformance-${short(name)}`, {
    about: `every scenario, with ${name}${place}`,
    command: npm('conformance', '--proxy', name, ...guest(proxy)),
    plans,
    seconds,
  });
}

function guest({ inGuest }: Pick<ProxyBudget, 'inGuest'>): string[] {
  return inGuest ? ['--kernel', 'uml'] : [];
}

function sabotages(): Part[] {
  const all = withBudget('sabotage').map(({ name, seconds }) =>
    part(`sabotage-${short(name)}`, {
      about: `every fault planted behind ${name} is detected`,
      command: npm('conformance', '--sabotage', '--proxy', name),
      plans: NIGHTLY,
      seconds,
    }),
  );
  return [
    part('sabotage', {
      about: `some faults planted behind ${FIRST_PROXY} are detected`,
      command: npm('conformance', '--sabotage', ...OF_FIRST_PROXY, '--only', SOME_SABOTAGES),
      plans: RUN,
      seconds: 50,
    }),
    ...all,
  ];
}

function faults(): Part[] {
  const all = withBudget('faults').map((proxy) =>
    part(`faults-${short(proxy.name)}`, {
      about: `every fault, with ${proxy.name}`,
      command: npm('break', 'faults', '--proxy', proxy.name, ...guest(proxy)),
      plans: NIGHTLY,
      seconds: proxy.seconds,
    }),
  );
  return [
    part('faults', {
      about: `a quick fault of each kind, with ${FIRST_PROXY}`,
      command: npm('break', 'faults', '--times', '5', '--only', QUICK_FAULTS),
      plans: RUN,
      seconds: 45,
    }),
    ...all,
    part('incidents', {
      about: `incidents, and whether explain and doctor tell the truth of each, with ${FIRST_PROXY}`,
      command: npm('break', 'incidents', ...OF_FIRST_PROXY),
      plans: NIGHTLY,
      seconds: 195,
    }),
    part('traps', {
      about: 'mistakes planted in the forwarder are found by its faults',
      command: npm('break', 'traps'),
      plans: NIGHTLY,
      seconds: 480,
    }),
    part('quotas', {
      about: 'each quota of docs/limits.md taken away is noticed by its test',
      command: npm('check', 'quotas'),
      plans: NIGHTLY,
      seconds: 310,
    }),
    part('soak', {
      about: `memory, descriptors and latency under changes for ten minutes, with ${FIRST_PROXY}: flat`,
      command: npm('break', 'soak', '--minutes', '10'),
      plans: NIGHTLY,
      seconds: 800,
    }),
    part('neighbour', {
      about: 'a hostile user of one namespace, two and a half minutes',
      command: npm('break', 'neighbour', '--minutes', '2.5'),
      plans: NIGHTLY,
      seconds: 260,
    }),
    ...withBudget('bounds').map(({ name, seconds }) =>
      part(`neighbour-bounds-${short(name)}`, {
        about: `one tenant fills the bounds of ${name}, and another is asked meanwhile`,
        command: npm('break', 'neighbour', '--proxy', name, '--bounds'),
        plans: NIGHTLY,
        seconds,
      }),
    ),
  ];
}

function iptables(): Part[] {
  return [
    part('iptables-equality', {
      about: "rules equal to kube-proxy's, 40 generated states on the nft backend",
      command: npm('compare', 'iptables', '--states', '40', '--no-corpus', '--backend', 'nft'),
      plans: RUN,
      seconds: 16,
    }),
    part('iptables-equality-all', {
      about: "rules equal to kube-proxy's, 500 states and the corpus, both backends",
      command: npm('compare', 'iptables', '--states', '500'),
      plans: NIGHTLY,
      seconds: 700,
    }),
    part('config-equality', {
      about: 'small configuration files, read the same way as by kube-proxy',
      command: npm('compare', 'config'),
      plans: NIGHTLY,
      seconds: 60,
    }),
    part('iptables-drift', {
      about: 'external changes of the iptables chains are repaired',
      command: npm('break', 'drift'),
      plans: NIGHTLY,
      seconds: 400,
    }),
    part('upgrade', {
      about: 'an earlier commit to this one and back in every mode, under connections',
      command: npm('compare', 'upgrade', '--from', EARLIER_COMMIT),
      plans: NIGHTLY,
      seconds: 600,
    }),
    part('takeover', {
      about: 'each proxy replaced with each other, under connections',
      command: npm('compare', 'takeover'),
      plans: NIGHTLY,
      seconds: 600,
    }),
  ];
}

function metrics(): Part[] {
  return [
    part('metrics', {
      about:
        "names, types, labels and buckets of /metrics compared with kube-proxy's, in every mode",
      command: npm('compare', 'metrics'),
      plans: NIGHTLY,
      seconds: 90,
    }),
    part('metrics-dashboard', {
      about: "kubernetes-mixin's Proxy dashboard by a real Prometheus, no panel empty",
      command: npm('compare', 'metrics', 'dashboard'),
      plans: NIGHTLY,
      seconds: 150,
    }),
  ];
}

function realNodes(): Part[] {
  const e2e = withBudget('e2e').map(({ name, seconds }) =>
    part(`e2e-${short(name)}`, {
      about: `upstream's end-to-end specs on real nodes, with ${name}`,
      command: npm('e2e', '--proxy', name),
      plans: NIGHTLY,
      seconds,
    }),
  );
  return [
    ...e2e,
    part('e2e-sabotage', {
      about: 'the end-to-end specs detect planted faults',
      command: npm('e2e', '--sabotage', ...OF_FIRST_PROXY),
      plans: NIGHTLY,
      seconds: 900,
    }),
    part('swap', {
      about: 'kube-proxy to Fairlead and back on real nodes, under load',
      command: npm('e2e', 'swap'),
      plans: NIGHTLY,
      seconds: 210,
    }),
    part('swap-helm', {
      about: 'kube-proxy to Fairlead and back by the Helm chart on real nodes, under load',
      command: npm('e2e', 'swap', '--helm'),
      plans: NIGHTLY,
      seconds: 210,
    }),
    part('swap-helm-3', {
      about: 'the same by Helm 3',
      command: npm('e2e', 'swap', '--helm', '3'),
      plans: NIGHTLY,
      seconds: 210,
    }),
    part('swap-one-line', {
      about: "the image line of kube-proxy's DaemonSet changed and changed back, under load",
      command: npm('e2e', 'swap', '--one-line'),
      plans: NIGHTLY,
      seconds: 180,
    }),
  ];
}
