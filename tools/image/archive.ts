import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Entry, FileEntry } from './entry.ts';
import { tar } from './tar.ts';

export interface ImageParts {
  /** A full name: registry, repository, tag. */
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  readonly entrypoint: readonly string[];
  readonly layers: readonly (readonly Entry[])[];
}

export interface ImageArchive {
  readonly bytes: Buffer;
  /** Digest of the manifest, by which registries identify the image. */
  readonly digest: string;
  readonly layers: readonly { readonly bytes: number; readonly compressedBytes: number }[];
}

const compress = promisify(gzip);
const EPOCH = '1970-01-01T00:00:00Z';
const OCI = 'application/vnd.oci.image';

interface Blob {
  readonly digest: string;
  readonly bytes: Buffer;
}

interface Layer {
  readonly blob: Blob;
  /** Digest of the uncompressed layer, by which runtimes identify it. */
  readonly diffId: string;
  readonly bytes: number;
}

/**
 * An image as a tar, in both forms that are in use: the layout of OCI (containerd, podman, skopeo)
 * and the manifest.json of `docker load`. Same parts, same bytes.
 */
export async function imageArchive(parts: ImageParts): Promise<ImageArchive> {
  const layers = await Promise.all(parts.layers.map(layer));
  const config = jsonBlob(configuration(parts, layers));
  const manifest = jsonBlob({
    schemaVersion: 2,
    mediaType: `${OCI}.manifest.v1+json`,
    config: { mediaType: `${OCI}.config.v1+json`, ...descriptor(config) },
    layers: layers.map(({ blob }) => ({
      mediaType: `${OCI}.layer.v1.tar+gzip`,
      ...descriptor(blob),
    })),
  });
  const blobs = [config, manifest, ...layers.map(({ blob }) => blob)];
  return {
    bytes: tar([
      json('oci-layout', { imageLayoutVersion: '1.0.0' }),
      json('index.json', index(parts, manifest)),
      json('manifest.json', [
        {
          Config: blobPath(config),
          RepoTags: [parts.name],
          Layers: layers.map(({ blob }) => blobPath(blob)),
        },
      ]),
      ...blobs.map((blob): Entry => ({ kind: 'file', path: blobPath(blob), bytes: blob.bytes })),
    ]),
    digest: manifest.digest,
    layers: layers.map(({ bytes, blob }) => ({ bytes, compressedBytes: blob.bytes.length })),
  };
}

function index({ name, architecture }: ImageParts, manifest: Blob): object {
  return {
    schemaVersion: 2,
    mediaType: `${OCI}.index.v1+json`,
    manifests: [
      {
        mediaType: `${OCI}.manifest.v1+json`,
        ...descriptor(manifest),
        platform: { architecture, os: 'linux' },
        // The first is containerd's annotation, the second the one of the OCI specification.
        annotations: {
          'io.containerd.image.name': name,
          'org.opencontainers.image.ref.name': name.slice(name.lastIndexOf(':') + 1),
        },
      },
    ],
  };
}

function configuration(parts: ImageParts, layers: readonly Layer[]): object {
  return {
    created: EPOCH,
    architecture: parts.architecture,
    os: 'linux',
    config: {
      Env: ['PATH=/usr/local/bin'],
      Entrypoint: parts.entrypoint,
      WorkingDir: '/',
      Labels: {
        'org.opencontainers.image.title': 'fairlead',
        'org.opencontainers.image.version': parts.version,
        'org.opencontainers.image.licenses': 'Apache-2.0',
      },
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(() => ({ created: EPOCH, created_by: 'fairlead tools/image' })),
  };
}

async function layer(entries: readonly Entry[]): Promise<Layer> {
  const bytes = tar(entries);
  return { blob: toBlob(await compress(bytes)), diffId: digestOf(bytes), bytes: bytes.length };
}

function toBlob(bytes: Buffer): Blob {
  return { digest: digestOf(bytes), bytes };
}

function jsonBlob(value: unknown): Blob {
  return toBlob(Buffer.from(JSON.stringify(value)));
}

function json(path: string, value: unknown): FileEntry {
  return { kind: 'file', path, bytes: Buffer.from(JSON.stringify(value)) };
}

function descriptor({ digest, bytes }: Blob): { digest: string; size: number } {
  return { digest, size: bytes.length };
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

function blobPath({ digest }: Blob): string {
  return `blobs/${digest.replace(':', '/')}`;
}
