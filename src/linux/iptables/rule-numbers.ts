import { isIPv4 } from 'node:net';
import { parseIp } from '../../addresses/ip.ts';
import { be32 } from '../nftables/listed-expressions.ts';
import type { TableFamily } from '../nftables/protocol.ts';
import type { Binary } from '../nftables/userdata.ts';

const MOST_PORT = 0xffff;
const MOST_U32 = 0xffff_ffff;

/** Each undefined where the text is not one. */

export function portOf(text: string): number | undefined {
  return /^\d{1,5}$/.test(text) && Number(text) <= MOST_PORT ? Number(text) : undefined;
}

function hexNumber(text: string): number | undefined {
  return /^0x[0-9a-f]{1,8}$/.test(text) ? Number(text) : undefined;
}

export function decimalNumber(text: string): number | undefined {
  return /^\d{1,10}$/.test(text) && Number(text) <= MOST_U32 ? Number(text) : undefined;
}

/** `0x4000/0x4000`: a mark and its mask. */
export function markAndMask(text: string): { mark: number; mask: number } | undefined {
  const [first = '', second = ''] = text.split('/');
  const [mark, mask] = [hexNumber(first), hexNumber(second)];
  return mark === undefined || mask === undefined ? undefined : { mark, mask };
}

export function addressBytes(text: string, family: TableFamily): Binary | undefined {
  if (family === 'ip') return isIPv4(text) ? ipv4Bytes(text) : undefined;
  const address = parseIp(text);
  return address?.version === 6 ? String.fromCharCode(...address.bytes) : undefined;
}

const DOT = 0x2e;
const ZERO = 0x30;

/** A hundred thousand of them at a start: without a list or an object for each. */
function ipv4Bytes(text: string): Binary {
  let bytes = 0;
  let byte = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code !== DOT) byte = byte * 10 + code - ZERO;
    else {
      bytes = (bytes << 8) | byte;
      byte = 0;
    }
  }
  return be32((bytes << 8) | byte);
}
