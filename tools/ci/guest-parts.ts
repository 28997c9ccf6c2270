import { NIGHTLY, npm, part, RUN } from './make-part.ts';
import type { Part } from './part.ts';

const IPVS_TESTS = [
  ...['src/linux/ipvs', 'src/linux/ipvs/ipset', 'src/wings/ipvs/plane', 'src/wings/ipvs'],
  'integration/tests/top/ipvs',
];
const SOME_IPVS_TESTS = [
  'src/linux/ipvs/kernel-ipvs.root.test.ts',
  'src/wings/ipvs/ipvs-life.root.test.ts',
];
const HEALTHY_RUNS = 'integration/tests/doctor/healthy-ipvs.nightly.root.test.ts';
/** One of each kind of frontend, of protocol, and what only this mode has. */
const SOME_IN_GUEST =
  '^(cluster-ip/tcp-from-(pods|outside)|node-port/from-outside|sctp/cluster-ip|scheduler/(rr|lc)|' +
  'external-policy/node-port-from-inside-no-local-endpoint|flows/tcp-outlives-its-endpoint)$';

/** The kernel of a machine that CI runs on may have no IPVS: these run in the one that the lab builds. */
export function guestParts(): Part[] {
  return [
    part('guest-tests', {
      about: 'some tests of IPVS, in the kernel that the lab builds',
      command: ['npm', 'test', '--', '--kernel', 'uml', ...SOME_IPVS_TESTS],
      plans: RUN,
      seconds: 80,
    }),
    part('guest-tests-all', {
      about: 'every test of IPVS, in the kernel that the lab builds',
      command: ['npm', 'test', '--', '--kernel', 'uml', ...IPVS_TESTS],
      plans: NIGHTLY,
      seconds: 900,
    }),
    part('guest-healthy', {
      about:
        'doctor and explain on a healthy node of mode ipvs, 100 times, in the kernel that the lab builds',
      command: ['npm', 'test', '--', '--kernel', 'uml', HEALTHY_RUNS],
      plans: NIGHTLY,
      seconds: 300,
    }),
    part('guest-conformance', {
      about: 'some scenarios with fairlead-ipvs, in the kernel that the lab builds',
      command: npm(
        'conformance',
        ...['--proxy', 'fairlead-ipvs', '--kernel', 'uml', '--at-once', '4'],
        ...['--only', SOME_IN_GUEST],
      ),
      plans: RUN,
      seconds: 120,
    }),
  ];
}
