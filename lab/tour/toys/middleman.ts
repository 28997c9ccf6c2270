/**
 * The smallest proxy in user space: every connection to its port becomes a second one, to the pod.
 * Usage: middleman.ts LISTEN_PORT POD_ADDRESS POD_PORT
 */
import { connect, createServer, type Socket } from 'node:net';

const [listenPort = '', podAddress = '', podPort = ''] = process.argv.slice(2);
const nameOf = (address = '', port = 0): string => `${address.replace('::ffff:', '')}:${port}`;

createServer((client) => {
  const pod = connect(Number(podPort), podAddress, () => {
    const first = `${nameOf(client.remoteAddress, client.remotePort)} -> ${nameOf(client.localAddress, client.localPort)}`;
    const second = `${nameOf(pod.localAddress, pod.localPort)} -> ${nameOf(pod.remoteAddress, pod.remotePort)}`;
    console.log(`${first} | ${second}`);
  });
  client.pipe(pod).pipe(client);
  const endBoth = (one: Socket, other: Socket): void => void one.on('error', () => other.destroy());
  endBoth(client, pod);
  endBoth(pod, client);
}).listen(Number(listenPort), '0.0.0.0');
