import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeFacts } from '../../../dataplanes/contract.ts';
import type { PodDetection } from '../../../forwarding/answer/place.ts';
import { restoreLines } from './committer.ts';
import { reconfigure } from './reconfigure-iptables.ts';
import { renderedTables } from './render-iptables.ts';
import { FACTS, frontend, INTERNAL, row, SETTING, upstreamRows } from './testing/iptables-rows.ts';

const withFacts = (facts: Partial<NodeFacts>) => ({ ...SETTING, facts: { ...FACTS, ...facts } });
const withPods = (IPv4: PodDetection | undefined) =>
  withFacts({ podDetection: { ...FACTS.podDetection, IPv4 } });

/** The chains after a change, from those that other settings produced. */
function reconfigured(before: typeof SETTING, after: typeof SETTING): Map<string, string[]> {
  const read = renderedTables(upstreamRows(), before, 'IPv4');
  const changes = reconfigure({ family: 'IPv4', before, after, read });
  const chains = new Map(read.nat);
  for (const text of changes.filter(({ table }) => table === 'nat').flatMap(restoreLines)) {
    const [verb = '', name = ''] = text.split(' ', 2);
    const rule = text.slice(verb.length + name.length + 2);
    if (verb.startsWith(':')) chains.set(verb.slice(1), []);
    if (verb === '-A') chains.get(name)?.push(rule);
    if (verb === '-D') chains.set(name, chains.get(name)?.filter((each) => each !== rule) ?? []);
  }
  return chains;
}

const chainCount = (lines: readonly string[]): number =>
  lines.filter((line) => line.startsWith(':')).length;

const DETECTIONS: readonly PodDetection[] = [
  { by: 'cidr', cidr: '10.128.0.0/9' },
  { by: 'cidr', cidr: '10.9.0.0/16' },
  { by: 'interface', name: 'br0' },
  { by: 'interface-prefix', prefix: 'veth' },
];

describe('new facts about the node', () => {
  for (const before of DETECTIONS) {
    for (const after of DETECTIONS) {
      it(`are written into the chains of rows: ${Object.values(before)} to ${Object.values(after)}`, () => {
        assert.deepEqual(
          reconfigured(withPods(before), withPods(after)),
          renderedTables(upstreamRows(), withPods(after), 'IPv4').nat,
        );
      });
    }
  }

  it('are written into the chains of many rows in steps, which costs the program less', () => {
    const [before, after] = [withPods({ by: 'cidr', cidr: '10.9.0.0/16' }), SETTING];
    const rows = Array.from({ length: 700 }, (_, index) =>
      row({
        name: `web${index}`,
        lists: ['cluster'],
        frontends: [
          frontend('cluster-ip', { address: '10.96.0.9', port: 80 }, INTERNAL('cluster')),
        ],
        endpoints: ['10.1.0.1:80'],
      }),
    );
    const read = renderedTables(rows, before, 'IPv4');
    const changes = reconfigure({ family: 'IPv4', before, after, read });
    const counts = changes
      .filter(({ isEmpty }) => !isEmpty)
      .map(restoreLines)
      .map(chainCount);
    assert.deepEqual(counts, [600, 100]);
  });

  it('switch node ports on loopback on and off', () => {
    const { nodePortsOnLocalhost: _, ...facts } = FACTS;
    const without = { ...SETTING, facts };
    const wanted = (setting: typeof SETTING) => renderedTables(upstreamRows(), setting, 'IPv4').nat;
    assert.deepEqual(reconfigured(SETTING, without), wanted(without));
    assert.deepEqual(reconfigured(without, SETTING), wanted(SETTING));
  });

  it('change the mark and the addresses of node ports', () => {
    const after = withFacts({
      masqueradeMark: 0x100,
      nodePortAddresses: { IPv4: ['192.0.2.1'], IPv6: 'all' },
    });
    const wanted = renderedTables(upstreamRows(), after, 'IPv4').nat;
    assert.deepEqual(reconfigured(SETTING, after), wanted);
  });
});
