import { setImmediate as nextIteration } from 'node:timers/promises';
import { unrefusedPorts } from './libc.ts';
import { enterNamespace } from './namespaces.ts';
import { run } from './run.ts';

const LAST_PORT = 65_535;
/** Ports of one event loop iteration: the process that scans also serves the pods. */
const AT_ONCE = 1_024;

/** All TCP ports of an address that do not refuse a connection from the namespace. */
export async function scanTcpPorts(namespace: string, address: string): Promise<number[]> {
  const found: number[] = [];
  for (let first = 1; first <= LAST_PORT; first += AT_ONCE) {
    const size = Math.min(AT_ONCE, LAST_PORT - first + 1);
    const ports = Array.from({ length: size }, (_, index) => first + index);
    found.push(...unrefusedPorts({ namespace, address, ports }));
    await nextIteration();
  }
  return found;
}

/** Sockets of a namespace that wait for connections or datagrams, as `tcp 0.0.0.0:80`. */
export async function listeningSockets(namespace: string): Promise<string[]> {
  const argv = ['ss', '-H', '-l', '-n', '-t', '-u'] as const;
  return parseListening(await run(enterNamespace(namespace, argv)));
}

/** Without those on loopback, which no other host reaches. */
export function parseListening(text: string): string[] {
  return text
    .split('\n')
    .flatMap((line) => {
      const [protocol, , , , local] = line.split(/\s+/);
      return protocol && local ? [`${protocol} ${local}`] : [];
    })
    .filter((socket) => !/^\S+ (127\.|\[::1\]:|\[::ffff:127\.)/.test(socket))
    .sort();
}
