import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Blob, descriptor, digestOf, jsonBlob, OCI, toBlob } from './blob.ts';
import type { Entry } from './entry.ts';
import { tar } from './tar.ts';

export interface ImageParts {
  readonly version: string;
  readonly architecture: string;
  readonly entrypoint: readonly string[];
  readonly layers: readonly (readonly Entry[])[];
}

/** An image for one machine, as its blobs. Same parts, same bytes. */
export interface BuiltImage {
  readonly architecture: string;
  readonly config: Blob;
  /** Its digest is the one by which registries identify the image. */
  readonly manifest: Blob;
  readonly layers: readonly Layer[];
}

export interface Layer {
  readonly blob: Blob;
  /** Digest of the uncompressed layer, by which runtimes identify it. */
  readonly diffId: string;
  readonly bytes: number;
}

const compress = promisify(gzip);
const EPOCH = '1970-01-01T00:00:00Z';

export async function buildImage(parts: ImageParts): Promise<BuiltImage> {
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
  return { architecture: parts.architecture, config, manifest, layers };
}

/** How an index refers to the image. */
export function manifestDescriptor({ manifest, architecture }: BuiltImage): object {
  return {
    mediaType: `${OCI}.manifest.v1+json`,
    ...descriptor(manifest),
    platform: { architecture, os: 'linux' },
  };
}

export function blobsOf({ config, manifest, layers }: BuiltImage): Blob[] {
  return [config, manifest, ...layers.map(({ blob }) => blob)];
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
