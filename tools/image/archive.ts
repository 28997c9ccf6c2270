import { type Blob, blobEntry, blobPath, descriptor, jsonBlob, jsonEntry, OCI } from './blob.ts';
import { type BuiltImage, blobsOf, manifestDescriptor } from './build-image.ts';
import { tar } from './tar.ts';

const LAYOUT = jsonEntry('oci-layout', { imageLayoutVersion: '1.0.0' });

/**
 * An image as a tar, in both forms that are in use: the layout of OCI (containerd, podman, skopeo)
 * and the manifest.json of `docker load`. The name is a full one: registry, repository, tag.
 */
export function imageArchive(image: BuiltImage, name: string): Buffer {
  return tar([
    LAYOUT,
    jsonEntry('index.json', indexOf([{ ...manifestDescriptor(image), ...named(name) }])),
    jsonEntry('manifest.json', [forDocker(image, name)]),
    ...blobsOf(image).map(blobEntry),
  ]);
}

export interface IndexArchive {
  readonly bytes: Buffer;
  /** Digest of the index, by which registries identify the image for all machines. */
  readonly digest: string;
}

/**
 * One image for several machines, as a layout of OCI: index.json names one index, and that one the
 * image of each machine. The classic store of Docker has one machine for a name: there, each image has
 * the machine in its tag.
 */
export function indexArchive(images: readonly BuiltImage[], name: string): IndexArchive {
  const index = jsonBlob(indexOf(images.map(manifestDescriptor)));
  const entry = { mediaType: `${OCI}.index.v1+json`, ...descriptor(index), ...named(name) };
  const blobs = new Map<string, Blob>();
  for (const blob of [index, ...images.flatMap(blobsOf)]) blobs.set(blob.digest, blob);
  return {
    bytes: tar([
      LAYOUT,
      jsonEntry('index.json', indexOf([entry])),
      jsonEntry(
        'manifest.json',
        images.map((image) => forDocker(image, `${name}-${image.architecture}`)),
      ),
      ...[...blobs.values()].map(blobEntry),
    ]),
    digest: index.digest,
  };
}

function forDocker(image: BuiltImage, name: string): object {
  return {
    Config: blobPath(image.config),
    RepoTags: [name],
    Layers: image.layers.map(({ blob }) => blobPath(blob)),
  };
}

function indexOf(manifests: readonly object[]): object {
  return { schemaVersion: 2, mediaType: `${OCI}.index.v1+json`, manifests };
}

/** The first is containerd's annotation, the second the one of the OCI specification. */
function named(name: string): object {
  return {
    annotations: {
      'io.containerd.image.name': name,
      'org.opencontainers.image.ref.name': name.slice(name.lastIndexOf(':') + 1),
    },
  };
}
