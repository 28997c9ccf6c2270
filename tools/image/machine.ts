import { ImageError } from './image-error.ts';

/** A kind of machine that the image can be for: the one it is made on. */
export interface Machine {
  /** As container images call it. */
  readonly architecture: string;
  /** The npm package that is Node's release for it. */
  readonly nodePackage: string;
  /** koffi's package for it, and the folder in it with the binary for glibc. */
  readonly koffiPackage: string;
  readonly koffiFolder: string;
  /** Where the loader of glibc looks, Debian's order first. */
  readonly libraryFolders: readonly string[];
}

export function machineOf(nodeArchitecture: string): Machine {
  if (nodeArchitecture === 'x64') return machine('amd64', 'x64', 'x86_64-linux-gnu');
  if (nodeArchitecture === 'arm64') return machine('arm64', 'arm64', 'aarch64-linux-gnu');
  throw new ImageError(
    'IMAGE_MACHINE',
    `there is no image for ${nodeArchitecture}`,
    'make it on x64 or arm64',
  );
}

function machine(architecture: string, cpu: string, triplet: string): Machine {
  return {
    architecture,
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
