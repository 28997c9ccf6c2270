import { ImageError } from './image-error.ts';

/** A kind of machine that the image can be for: the one it is made on. */
export interface Machine {
  /** As container images call it. */
  readonly architecture: string;
  /** The npm package that is Node's release for it. */
  readonly nodePackage: string;
  /** As npm and Node call it. */
  readonly cpu: string;
  /** The bundler's package for it. */
  readonly bundlerPackage: string;
  /** koffi's package for it, and the folder in it with the binary for glibc. */
  readonly koffiPackage: string;
  readonly koffiFolder: string;
  /** Where the loader of glibc looks, Debian's order first. */
  readonly libraryFolders: readonly string[];
}

export const MACHINES: readonly Machine[] = [
  machine('amd64', 'x64', 'x86_64-linux-gnu'),
  machine('arm64', 'arm64', 'aarch64-linux-gnu'),
];

export function machineOf(nodeArchitecture: string): Machine {
  const found = MACHINES.find(({ cpu }) => cpu === nodeArchitecture);
  if (found !== undefined) return found;
  throw new ImageError(
    'IMAGE_MACHINE',
    `there is no image for ${nodeArchitecture}`,
    'make it on x64 or arm64',
  );
}

function machine(architecture: string, cpu: string, triplet: string): Machine {
  return {
    architecture,
    cpu,
    bundlerPackage: `@esbuild/linux-${cpu}`,
    nodePackage: `node-linux-${cpu}`,
    koffiPackage: `@koromix/koffi-linux-${cpu}`,
    koffiFolder: `linux_${cpu}`,
    libraryFolders: [
      `/lib/${triplet}`,
      `/usr/lib/${triplet}`,
      '/lib64',
      '/usr/lib64',
      '/lib',
      '/usr/lib',
    ],
  };
}
