import { readFile } from 'node:fs/promises';
import { type BoundSocket, boundSockets } from './bound-socket.ts';

/** State of an unconnected UDP socket. */
const UNCONNECTED = '07';
const FILES = ['udp', 'udp6'];
const WORD_DIGITS = 8;

/**
 * All unconnected UDP sockets. Parsed from /proc: many kernels lack sock_diag for UDP, and a node
 * has far fewer of these than TCP sockets.
 */
export async function udpSockets(folder = '/proc/self/net'): Promise<BoundSocket[]> {
  const texts = await Promise.all(FILES.map((name) => readIfThere(`${folder}/${name}`)));
  return texts.flatMap((text) => text.split('\n').slice(1).flatMap(readLine));
}

/** Without IPv6 in the kernel one of the files is missing. */
async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/** `sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode …` */
function readLine(line: string): BoundSocket[] {
  const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
  const [address, port] = local?.split(':') ?? [];
  if (address === undefined || port === undefined || state !== UNCONNECTED) return [];
  return boundSockets({
    protocol: 'UDP',
    address: wordsInHostOrder(address),
    port: Number.parseInt(port, 16),
    inode: Number(inode),
    // The file does not show it: a port that may be held in IPv4 as well counts as held.
    ipv6Only: false,
  });
}

/** Words of 32 bits, each printed as a number of a little-endian machine. */
function wordsInHostOrder(hex: string): Uint8Array {
  const bytes = Buffer.alloc(hex.length / 2);
  for (let at = 0; at < hex.length; at += WORD_DIGITS) {
    bytes.writeUInt32LE(Number.parseInt(hex.slice(at, at + WORD_DIGITS), 16), at / 2);
  }
  return Uint8Array.from(bytes);
}
