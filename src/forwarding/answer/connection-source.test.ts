import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { view } from '../testing/example-objects.ts';
import { sourceAt, sourceOfClass } from './connection-source.ts';
import type { Place, PodDetection } from './place.ts';

function placeWith(sign: PodDetection | undefined, nodeIPs = ['172.30.1.1']): Place {
  return {
    view: view({ nodeIPs }),
    facts: {
      podDetection: { IPv4: sign, IPv6: sign },
      nodePortAddresses: { IPv4: 'all', IPv6: 'all' },
      serviceRanges: [],
    },
    machineAddresses: ['10.1.0.1', '10.9.0.1'],
  };
}

const BY_RANGE = placeWith({ by: 'cidr', cidr: '10.1.0.0/24' });

describe('the source class of an address', () => {
  it('is pod inside the range of pods, also for an address of the node', () => {
    assert.equal(sourceAt('10.1.0.7', BY_RANGE).class, 'pod');
    assert.equal(sourceAt('10.1.0.1', BY_RANGE).class, 'pod');
  });

  it('is host for an address of the node, and loopback', () => {
    for (const address of ['10.9.0.1', '172.30.1.1', '127.0.0.1']) {
      assert.equal(sourceAt(address, BY_RANGE).class, 'host', address);
    }
  });

  it('is outside for a pod of this node that the range misses, and says so', () => {
    const source = sourceAt('10.7.0.7', BY_RANGE, true);
    assert.equal(source.class, 'outside');
    assert.match(source.because, /10\.7\.0\.7 is not in 10\.1\.0\.0\/24/);
  });

  it('is not shown by an address where pods are told by interface', () => {
    const place = placeWith({ by: 'interface-prefix', prefix: 'veth' });
    assert.equal(sourceAt('10.1.0.7', place).class, 'outside');
    assert.match(sourceAt('10.1.0.7', place).because, /veth\*, which an address does not show/);
    assert.equal(sourceAt('10.1.0.7', place, true).class, 'pod');
  });

  it('is not known where pods cannot be told from others', () => {
    assert.match(sourceAt('10.1.0.7', placeWith(undefined)).because, /detectLocalMode/);
  });
});

describe('the node as a source', () => {
  it('has its main address', () => {
    const { class: of, address } = sourceOfClass('host', 'IPv4', BY_RANGE);
    assert.deepEqual([of, address], ['host', '172.30.1.1']);
    assert.equal(sourceOfClass('host', 'IPv6', BY_RANGE).address, undefined);
  });

  it('counts as a pod if its address is in the range of pods', () => {
    const place = placeWith({ by: 'cidr', cidr: '172.30.0.0/16' });
    assert.equal(sourceOfClass('host', 'IPv4', place).class, 'pod');
  });
});
