import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, it } from 'node:test';
import { ipBatch, namespaceName, namespacePath, removeNamespaces } from './namespaces.ts';
import { listeningSockets, scanTcpPorts } from './open-ports.ts';
import { listenTcp } from './sockets.ts';

const LAB = `p${randomBytes(3).toString('hex')}`;
const [near, far] = ['near', 'far'].map((role) => namespaceName({ lab: LAB, role }));
const [nearPath, farPath] = ['near', 'far'].map((role) => namespacePath({ lab: LAB, role }));

/** Two hosts: a client on the host itself could get its own port as its peer. */
before(async () => {
  await ipBatch([`netns add ${near}`, `netns add ${far}`]);
  await ipBatch(
    [
      `link add eth0 type veth peer name eth0 netns ${far}`,
      'link set eth0 up',
      'addr add 10.0.0.1/24 dev eth0',
      'addr add fd00::1/64 dev eth0 nodad',
    ],
    near,
  );
  await ipBatch(
    ['link set eth0 up', 'addr add 10.0.0.2/24 dev eth0', 'addr add fd00::2/64 dev eth0 nodad'],
    far,
  );
});
after(() => removeNamespaces([near ?? '', far ?? '']));

it('finds the TCP ports that listen, in both families, and no other', async () => {
  const ports = [1, 31_999, 65_535];
  const listen = (port: number) =>
    listenTcp({ namespace: farPath ?? '', port }, (socket) => socket.destroy());
  const servers = await Promise.all(ports.map(listen));
  try {
    for (const address of ['10.0.0.2', 'fd00::2']) {
      assert.deepEqual(await scanTcpPorts(nearPath ?? '', address), ports);
    }
    const listening = await listeningSockets(farPath ?? '');
    assert.deepEqual(listening, ['tcp *:1', 'tcp *:31999', 'tcp *:65535']);
  } finally {
    for (const server of servers) server.close();
  }
  assert.deepEqual(await scanTcpPorts(nearPath ?? '', '10.0.0.2'), []);
});
