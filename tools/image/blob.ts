import { createHash } from 'node:crypto';
import type { FileEntry } from './entry.ts';

/** Bytes of an image layout, found by their digest. */
export interface Blob {
  readonly digest: string;
  readonly bytes: Buffer;
}

export const OCI = 'application/vnd.oci.image';

export function toBlob(bytes: Buffer): Blob {
  return { digest: digestOf(bytes), bytes };
}

export function jsonBlob(value: unknown): Blob {
  return toBlob(Buffer.from(JSON.stringify(value)));
}

export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

export function descriptor({ digest, bytes }: Blob): { digest: string; size: number } {
  return { digest, size: bytes.length };
}

export function blobPath({ digest }: Blob): string {
  return `blobs/${digest.replace(':', '/')}`;
}

export function blobEntry(blob: Blob): FileEntry {
  return { kind: 'file', path: blobPath(blob), bytes: blob.bytes };
}

export function jsonEntry(path: string, value: unknown): FileEntry {
  return { kind: 'file', path, bytes: Buffer.from(JSON.stringify(value)) };
}
