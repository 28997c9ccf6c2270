import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { SliceEndpoint } from '../cluster/objects.ts';
import { compile } from './compile.ts';
import { KeptRows } from './kept-rows.ts';
import { KeptServices } from './kept-services.ts';
import type { Entry } from './register.ts';
import { Register } from './register.ts';
import { elsewhere, service, slice, view } from './testing/example-objects.ts';
import { toEnd } from './turns.ts';

/** Few addresses and ports, so that slices have the same endpoints. */
const ENDPOINT = fc
  .record({ octet: fc.nat(6), ready: fc.boolean(), terminating: fc.boolean(), here: fc.boolean() })
  .map(
    ({ octet, here, ...more }): SliceEndpoint =>
      elsewhere(`10.0.0.${octet}`, { ...more, ...(here ? { nodeName: 'here' } : {}) }),
  );
const PORTS = fc.subarray([
  { name: 'a', protocol: 'TCP', port: 80 },
  { name: 'a', protocol: 'TCP', port: 81 },
  { name: 'b', protocol: 'UDP', port: 80 },
]);
const STEP = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      put: fc.nat(3),
      endpoints: fc.array(ENDPOINT, { maxLength: 6 }),
      ports: PORTS,
      addressType: fc.constantFrom('IPv4' as const, 'IPv6' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ remove: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ names: fc.subarray(['a', 'b']) }) },
);

describe('KeptRows', () => {
  it('gives the same rows as a full compile, after any changes', () => {
    fc.assert(
      fc.property(fc.array(STEP, { maxLength: 12 }), (steps) => {
        const kept = new KeptRows('IPv4', view());
        const register = new Register();
        const entry = register.entry('ns/web');
        entry.service = withPorts(['a', 'b']);
        for (const step of steps) {
          if ('put' in step)
            register.putSlice(slice(step.endpoints, { ...step, name: `s${step.put}` }));
          else if ('remove' in step) register.deleteSlice(`ns/s${step.remove}`);
          else {
            entry.service = withPorts(step.names);
            kept.serviceChanged();
          }
          const { service: of, slices } = entry;
          const anew = compile({ service: of, slices, family: 'IPv4', view: view() });
          assert.deepEqual(toEnd(kept.compile(of, slices)), anew);
        }
      }),
      { numRuns: 500 },
    );
  });
});

function withPorts(names: readonly string[]) {
  const of = (name: string) => ({ name, protocol: name === 'a' ? 'TCP' : 'UDP', nodePort: 0 });
  const ports = names.map((name, index) => ({ ...of(name), port: 80 + index }));
  return service({ ports, externalIPs: ['198.18.0.1'], externalTrafficPolicy: 'Local' });
}

describe('KeptServices', () => {
  const entryOf = (name: string, endpoints: number): Entry => {
    const all = Array.from({ length: endpoints }, (_, i) =>
      elsewhere(`10.0.${i >> 8}.${i & 0xff}`),
    );
    const slices = [slice(all, { service: name })];
    return {
      name: `ns/${name}`,
      service: service({ name }),
      slices,
      claimants: [],
      watched: [],
      rows: [],
    };
  };
  const compiled = (kept: KeptServices, entry: Entry) => {
    const rows = kept.of(entry, view())?.IPv4;
    if (entry.service && rows) toEnd(rows.compile(entry.service, entry.slices));
    kept.compiled(entry);
    return rows;
  };
  const keeps = (kept: KeptServices, entry: Entry, rows: KeptRows | undefined) =>
    kept.of(entry, view())?.IPv4 === rows;

  it('caches nothing of a small Service', () => {
    assert.equal(new KeptServices().of(entryOf('small', 5), view()), undefined);
  });

  it('drops the Service that changed longest ago when the total is above the limit', () => {
    const kept = new KeptServices(500);
    const [a, b, c] = [entryOf('a', 200), entryOf('b', 200), entryOf('c', 200)];
    const [ofA, ofB] = [compiled(kept, a), compiled(kept, b)];
    assert.equal(compiled(kept, a), ofA);
    const ofC = compiled(kept, c);
    assert.ok(keeps(kept, a, ofA));
    assert.ok(keeps(kept, c, ofC));
    assert.ok(!keeps(kept, b, ofB));
  });

  it('caches no Service that is above the limit on its own', () => {
    const kept = new KeptServices(500);
    const [small, huge] = [entryOf('small', 200), entryOf('huge', 600)];
    const [ofSmall, ofHuge] = [compiled(kept, small), compiled(kept, huge)];
    assert.ok(keeps(kept, small, ofSmall));
    assert.ok(!keeps(kept, huge, ofHuge));
  });
});
