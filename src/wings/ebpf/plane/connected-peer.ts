import { endpointKey } from '../../../forwarding/endpoints.ts';
import { PEER, readAddress } from './maps/layout.ts';
import { Pins } from './pins.ts';

const KEY_BYTES = 4;

/**
 * Where the socket hook sent a connected socket of this process: `address:port`, as the hook keeps it
 * in the socket itself. Undefined: the hook did not translate it, or no hooks are attached.
 */
export function connectedPeer(fd: number, pinFolder: string): string | undefined {
  const map = new Pins(pinFolder).map('connected');
  if (map === undefined) return undefined;
  try {
    const key = Buffer.alloc(KEY_BYTES);
    key.writeInt32LE(fd);
    const peer = map.lookup(key);
    return peer && endpointKey(readPeer(peer));
  } finally {
    map.close();
  }
}

function readPeer(peer: Buffer): { readonly address: string; readonly port: number } {
  return {
    address: readAddress(peer, PEER.address),
    port: peer.readUInt16BE(PEER.port),
  };
}
