import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Answer } from './host-messages.ts';

/** After this word the server closes first, so that the port of the asker is free at once. */
export const LAST_WORD = 'bye';

/** Answers every client by TCP and UDP with its name and the source address that it saw. */
export async function serve(name: string, port: number): Promise<void> {
  const tcp = createServer((socket) => {
    const saw = { address: socket.remoteAddress ?? '', port: socket.remotePort ?? 0 };
    socket.on('data', (said) => {
      const text = answerText(name, saw, said.length);
      if (said.toString('latin1').startsWith(LAST_WORD)) socket.end(text);
      else socket.write(text);
    });
    // An asker that gives up is no failure of the server.
    socket.on('error', () => socket.destroy());
  });
  tcp.listen(port, '::');
  await once(tcp, 'listening');
  const udp = createSocket({ type: 'udp6' });
  udp.on('message', (said, saw) => {
    udp.send(answerText(name, saw, said.length), saw.port, saw.address);
  });
  udp.bind(port, '::');
  await once(udp, 'listening');
}

function answerText(name: string, saw: { address: string; port: number }, bytes: number): string {
  return `${name} ${plain(saw.address)} ${saw.port} ${bytes}`;
}

export function readAnswer(text: string, from: string): Answer {
  const [by = '', saw = '', sawPort = '0', bytes = '0'] = text.split(' ');
  return { by, saw, sawPort: Number(sawPort), bytes: Number(bytes), from: plain(from) };
}

function plain(address: string): string {
  return address.replace(/^::ffff:/, '');
}
