import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { enterNamespace, ipBatch, setSysctls } from '../../lab/host/namespaces.ts';
import { run } from '../../lab/host/run.ts';
import { listenTcp } from '../../lab/host/sockets.ts';
import { firstAnswerAtMs, type Waiting } from './asker.ts';
import { SourcePorts } from './source-ports.ts';

/** Nobody has it; a rule may lead it to the server. */
const SERVICE = { address: '10.111.0.1', port: 80 };
const SERVER = { address: '10.99.0.2', port: 8080 };
/** The kernel tracks connections as soon as there is a rule that translates, for whomever. */
const OTHER_RULE = `table ip proxy {
  chain out {
    type nat hook output priority -100;
    ip daddr 10.111.0.9 dnat to ${SERVER.address}
  }
}`;
const RULE = `add rule ip proxy out ip daddr ${SERVICE.address} tcp dport 80 dnat to ${SERVER.address}:8080`;

describe('the asker', () => {
  const [node, server] = ['node', 'server'].map((role) => `asker-${role}-${process.pid}`);
  const path = (name = ''): string => `/run/netns/${name}`;
  const nft = (text: string): Promise<string> =>
    run(enterNamespace(path(node), ['nft', '-f', '-']), { input: text });

  before(async () => {
    await ipBatch([`netns add ${node}`, `netns add ${server}`]);
    await ipBatch(
      [
        `link add eth0 type veth peer name eth0 netns ${server}`,
        'address add 10.99.0.1/24 dev eth0',
        'link set eth0 up',
        `route add default via ${SERVER.address}`,
      ],
      node,
    );
    await ipBatch([`address add ${SERVER.address}/24 dev eth0`, 'link set eth0 up'], server);
    // So few that the kernel would come back to each within the test.
    await setSysctls(path(node), ['net.ipv4.ip_local_port_range=40000 40007']);
  });
  after(() => ipBatch([`netns delete ${node}`, `netns delete ${server}`]));

  it('is answered by the first rules, whatever was tried in vain before', async (test) => {
    const answering = await listenTcp({ namespace: path(server), port: SERVER.port }, (socket) => {
      socket.on('error', () => socket.destroy());
      socket.end('HTTP/1.1 200 OK\r\n\r\nserver');
    });
    test.after(() => answering.close());
    await nft(OTHER_RULE);
    const waiting: Waiting = {
      origin: { namespace: path(node) },
      to: SERVICE,
      ports: new SourcePorts(),
      deadlineMs: 1_000,
      signal: new AbortController().signal,
    };
    assert.equal(await firstAnswerAtMs(waiting), undefined);
    await nft(RULE);
    assert.ok((await firstAnswerAtMs({ ...waiting, deadlineMs: 10_000 })) !== undefined);
  });
});
