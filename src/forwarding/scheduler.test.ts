import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  canDrain,
  defaultScheduler,
  parseScheduler,
  SCHEDULER_NAMES,
  schedulerText,
} from './scheduler.ts';
import { ForwardingTable } from './table.ts';
import { endpoint, service, slice, view } from './testing/example-objects.ts';

const KEY = 'ns/web/TCP/IPv4';

function fault(value: string): string {
  const wish = parseScheduler(value);
  assert.ok('fault' in wish, value);
  return wish.fault;
}

describe('parseScheduler', () => {
  it('accepts every scheduler of the kernel by its name', () => {
    for (const name of SCHEDULER_NAMES.filter((each) => each !== 'ovf')) {
      const flags = name === 'sh' || name === 'mh' ? [`${name}-fallback`] : [];
      assert.deepEqual(parseScheduler(name), { scheduler: { name, flags } });
    }
  });

  it('accepts flags in any order and with spaces, and sorts them', () => {
    assert.deepEqual(parseScheduler(' mh , mh-port,mh-fallback,mh-port'), {
      scheduler: { name: 'mh', flags: ['mh-fallback', 'mh-port'] },
    });
    assert.deepEqual(parseScheduler('sh,sh-port'), {
      scheduler: { name: 'sh', flags: ['sh-fallback', 'sh-port'] },
    });
  });

  it('always sets the flag by which clients of a draining endpoint reach another one', () => {
    for (const text of ['sh', 'sh,sh-port', 'mh', 'mh,mh-fallback']) {
      const wish = parseScheduler(text);
      assert.ok('scheduler' in wish);
      assert.equal(wish.scheduler.flags[0], `${wish.scheduler.name}-fallback`);
    }
  });

  it('reads a weight, which ovf must have', () => {
    assert.deepEqual(parseScheduler('ovf,weight=100'), {
      scheduler: { name: 'ovf', flags: [], weight: 100 },
    });
    assert.equal(
      fault('ovf'),
      'ovf needs a weight, the connections that an endpoint gets before the next one, such as ovf,weight=100',
    );
    for (const text of ['0', '-1', '1.5', '65536', '', 'many', '1e3']) {
      assert.equal(fault(`ovf,weight=${text}`), 'weight must be from 1 to 65535');
    }
  });

  it('says which schedulers and flags there are', () => {
    assert.equal(
      fault('least'),
      '"least" is not one of rr, wrr, lc, wlc, lblc, lblcr, dh, sh, mh, sed, nq, fo, ovf, twos',
    );
    assert.match(fault('toString'), /is not one of/);
    assert.match(fault(''), /^"" is not one of/);
    assert.equal(
      fault('sh,mh-port'),
      '"mh-port" is not a flag of sh, which has sh-fallback and sh-port',
    );
    assert.equal(fault('rr,'), 'rr has no flags, and "" is given');
  });

  it('quotes a value as short printable text', () => {
    assert.match(fault('r\u001b[2J\u202er\n'), /^"r\?\[2J\?r" is not one of/);
    assert.match(fault('x'.repeat(100_000)), /^"x{40}\.\.\." is not one of/);
  });

  it('reads back what schedulerText writes', () => {
    for (const text of ['rr', 'mh,mh-fallback,mh-port', 'ovf,weight=7']) {
      const wish = parseScheduler(text);
      assert.ok('scheduler' in wish);
      assert.equal(schedulerText(wish.scheduler), text);
    }
  });
});

it('gives mh the flag that kube-proxy gives it', () => {
  assert.deepEqual(defaultScheduler('mh'), { name: 'mh', flags: ['mh-fallback', 'mh-port'] });
  assert.deepEqual(defaultScheduler('sh'), { name: 'sh', flags: ['sh-fallback'] });
  assert.deepEqual(defaultScheduler('lc'), { name: 'lc', flags: [] });
});

it('drains with every scheduler but dh', () => {
  const without = SCHEDULER_NAMES.filter((name) => !canDrain({ name, flags: [] }));
  assert.deepEqual(without, ['dh']);
});

describe('a row', () => {
  function tableWith(ipvsScheduler?: string): ForwardingTable {
    const table = new ForwardingTable(view());
    table.putSlice(slice([endpoint('10.0.0.1')]));
    table.putService(service(ipvsScheduler === undefined ? {} : { ipvsScheduler }));
    table.takeChanges();
    return table;
  }

  it('has the scheduler of the annotation', () => {
    assert.equal(tableWith().get(KEY)?.scheduler, undefined);
    assert.deepEqual(tableWith('sh,sh-port').get(KEY)?.scheduler, {
      name: 'sh',
      flags: ['sh-fallback', 'sh-port'],
    });
  });

  it('changes with the annotation, and only then', () => {
    const table = tableWith('mh');
    table.putService(service({ ipvsScheduler: ' mh' }));
    assert.deepEqual(table.takeChanges(), []);
    for (const next of ['mh,mh-port', 'lc', 'least', 'most', undefined]) {
      table.putService(service(next === undefined ? {} : { ipvsScheduler: next }));
      assert.equal(table.takeChanges().length, 2, `${next}`);
    }
  });

  it('has the reason and no scheduler if the annotation cannot be used', () => {
    const row = tableWith('rr,rr-port').get(KEY);
    assert.equal(row?.scheduler, undefined);
    assert.equal(
      row?.schedulerFault,
      'fairlead.dev/ipvs-scheduler: rr has no flags, and "rr-port" is given',
    );
  });

  it('keeps it when endpoints change, also of a large Service', () => {
    const table = tableWith('lc');
    const many = Array.from({ length: 3000 }, (_, n) => endpoint(`10.1.${n >> 8}.${n & 255}`));
    table.putSlice(slice(many));
    assert.equal(table.get(KEY)?.scheduler?.name, 'lc');
    table.putSlice(slice(many.slice(1)));
    assert.equal(table.get(KEY)?.scheduler?.name, 'lc');
  });
});
