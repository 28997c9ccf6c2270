import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ServicePortKey, servicePortKey } from '../forwarding/model.ts';
import { ForwardingTable } from '../forwarding/table.ts';
import {
  elsewhere,
  endpoint,
  service,
  slice,
  TERMINATING,
  view,
} from '../forwarding/testing/example-objects.ts';
import { type OpenCounts, OpenTally } from './open-connections.ts';

const EDGE = service({
  type: 'NodePort',
  externalIPs: ['198.18.0.1'],
  ports: [{ name: '', protocol: 'TCP', port: 80, nodePort: 30080 }],
});
const BEFORE = slice([endpoint('10.1.0.5'), endpoint('10.1.0.6'), elsewhere('10.1.9.5')]);

/** Opened to `at`, ends at `to` (port 8080). */
type Opened = readonly [at: string, to: string];

/** What becomes of open connections when a change is made. */
function fates(
  change: (table: ForwardingTable) => void,
  opened: readonly Opened[],
): Readonly<Record<string, OpenCounts>> {
  const table = new ForwardingTable(view());
  table.putService(EDGE);
  table.putSlice(BEFORE);
  const [row] = table.rows();
  assert.ok(row);
  table.takeChanges();
  change(table);
  const tally = new OpenTally(table.takeChanges(), (id, at) => table.isServing(id, at));
  const key = servicePortKey(row.id);
  for (const [at, to] of opened) tally.add({ row: key, at: placed(at), endpoint: placed(to) });
  return { total: tally.total, row: tally.of(key) };
}

function placed(text: string): { address: string; port: number } {
  const [address = '', port = '8080'] = text.split(':');
  return { address, port: Number(port) };
}

describe('OpenTally', () => {
  it('counts a connection to an endpoint that leaves as lost, and others as staying', () => {
    const { total, row } = fates(
      (table) => table.putSlice(slice([endpoint('10.1.0.5')])),
      [
        ['10.96.0.1:80', '10.1.0.5'],
        ['10.96.0.1:80', '10.1.0.6'],
        ['172.30.1.1:30080', '10.1.9.5'],
        ['198.18.0.1:80', '10.1.0.5'],
      ],
    );
    assert.deepEqual(total, { stay: 2, drain: 0, lose: 2 });
    assert.deepEqual(row, total);
  });

  it('counts one to an endpoint that terminates and still serves as draining', () => {
    const leaving = slice([endpoint('10.1.0.5'), endpoint('10.1.0.6', TERMINATING)]);
    const { total } = fates((table) => table.putSlice(leaving), [['10.96.0.1:80', '10.1.0.6']]);
    assert.deepEqual(total, { stay: 0, drain: 1, lose: 0 });
  });

  it('counts one at an address that is removed as lost, although its endpoint stays', () => {
    const { total } = fates(
      (table) => table.putService({ ...EDGE, externalIPs: [] }),
      [
        ['198.18.0.1:80', '10.1.0.5'],
        ['10.96.0.1:80', '10.1.0.5'],
      ],
    );
    assert.deepEqual(total, { stay: 1, drain: 0, lose: 1 });
  });

  it('counts all of a Service that is deleted as lost', () => {
    const { total } = fates(
      (table) => table.deleteService(`${EDGE.namespace}/${EDGE.name}`),
      [['10.96.0.1:80', '10.1.0.5']],
    );
    assert.deepEqual(total, { stay: 0, drain: 0, lose: 1 });
  });

  it('leaves out rows that do not change', () => {
    const tally = new OpenTally([], () => true);
    const at = placed('10.96.0.1:80');
    tally.add({ row: 'a/b:c/TCP/IPv4' as ServicePortKey, at, endpoint: at });
    assert.deepEqual(tally.total, { stay: 0, drain: 0, lose: 0 });
  });
});
