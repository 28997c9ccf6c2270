import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { formatCidr } from '../../../addresses/cidr.ts';
import { enterOwnNetwork, ip } from '../../../linux/netlink/testing/own-namespace.ts';
import { readMachine } from './machine-view.ts';

beforeEach(enterOwnNetwork);

describe('the view of a machine', () => {
  it('has its networks and addresses, without loopback, link-local and default routes', async () => {
    ip('link add eth0 type veth peer name far', 'link set eth0 up', 'link set far up');
    ip('addr add 192.0.2.10/24 dev eth0', 'addr add 2001:db8::10/64 dev eth0 nodad');
    ip('route add default via 192.0.2.1', 'route add 10.0.0.0/8 via 192.0.2.2');
    ip('route add blackhole 198.18.0.0/15');
    const { networks, addresses, uplinks } = await readMachine();
    assert.deepEqual(networks.map(({ text, isConnected }) => `${text} ${isConnected}`).sort(), [
      '10.0.0.0/8 via 192.0.2.2 dev eth0 false',
      '192.0.2.0/24 dev eth0 true',
      '2001:db8::/64 dev eth0 true',
    ]);
    const own = addresses.map(({ address, link }) => `${formatCidr(address)} ${link}`);
    assert.deepEqual(own.sort(), ['192.0.2.10/32 eth0', '2001:db8::10/128 eth0']);
    assert.deepEqual(uplinks, ['eth0']);
  });

  it('has nothing of what Fairlead made', async () => {
    ip('link add fairlead0 type bridge', 'link set fairlead0 up');
    ip('addr add 169.254.118.1/32 dev fairlead0', 'route add 10.96.0.10/32 dev fairlead0');
    ip('route add 10.96.0.0/12 dev lo proto 118 metric 4294967295');
    const { networks, addresses } = await readMachine();
    assert.deepEqual([...networks, ...addresses], []);
  });
});
