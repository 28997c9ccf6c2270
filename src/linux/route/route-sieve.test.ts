import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Cidr, formatCidr, parseCidr } from '../../addresses/cidr.ts';
import { routeSieve } from './keep-routes.ts';
import { FAIRLEAD_PROTOCOL } from './our-routes.ts';
import type { MachineRoute } from './route-codec.ts';
import { RT_TABLE_MAIN } from './route-requests.ts';

const RANGES = ['10.96.0.0/12', 'fd00:96::/108'].map(cidr);

function cidr(text: string): Cidr {
  const parsed = parseCidr(text);
  assert.ok(parsed);
  return parsed;
}

function route(to: string, more: Partial<MachineRoute> = {}): MachineRoute {
  return {
    family: to.includes(':') ? 'IPv6' : 'IPv4',
    to: cidr(to),
    table: RT_TABLE_MAIN,
    protocol: 4,
    type: 'unicast',
    metric: 0,
    hops: [{ linkIndex: 2, gateway: undefined, alive: true }],
    source: undefined,
    mtu: undefined,
    ...more,
  } as MachineRoute;
}

function kept(routes: readonly MachineRoute[]): readonly string[] {
  return routes.filter(routeSieve(RANGES)).map(({ to }) => formatCidr(to));
}

it('keeps what may cover a range, and ours', () => {
  const found = kept([
    route('0.0.0.0/0'),
    route('10.0.0.0/8'),
    route('10.96.0.0/12'),
    route('11.0.0.0/8'),
    route('fd00::/8'),
    route('fd00:97::/64'),
    route('12.0.0.0/8', { protocol: FAIRLEAD_PROTOCOL }),
  ]);
  assert.deepEqual(found, ['0.0.0.0/0', '10.0.0.0/8', '10.96.0.0/12', 'fd00::/8', '12.0.0.0/8']);
});

it('keeps one route with a gateway for each link, of however many', () => {
  const by = (linkIndex: number) => ({ hops: [{ linkIndex, gateway: '192.0.2.1', alive: true }] });
  const many = Array.from({ length: 1000 }, (_, index) =>
    route(`11.0.${index % 250}.0/24`, by(2 + (index % 2)) as Partial<MachineRoute>),
  );
  assert.deepEqual(kept(many), ['11.0.0.0/24', '11.0.1.0/24']);
});
