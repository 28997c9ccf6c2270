import { arch } from 'node:os';

/** An image, as data: what is in its root and what it starts. */
export interface ImageDescription {
  /** Its full names; an image that cannot be pulled is found only by exactly these. */
  readonly names: readonly [string, ...string[]];
  /** Programs of this machine, copied with the libraries they load. */
  readonly programs?: readonly string[];
  /** Files and folders: path in the image, path on this machine. */
  readonly files?: Readonly<Record<string, string>>;
  /** Symbolic links: path in the image, target. */
  readonly links?: Readonly<Record<string, string>>;
  /** Small files: path in the image, content. */
  readonly texts?: Readonly<Record<string, string>>;
  readonly entrypoint: readonly string[];
  readonly command?: readonly string[];
}

interface Architecture {
  /** As images name it. */
  readonly image: string;
  /** As Debian names the folders of its libraries. */
  readonly triplet: string;
}

const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  x64: { image: 'amd64', triplet: 'x86_64-linux-gnu' },
  arm64: { image: 'arm64', triplet: 'aarch64-linux-gnu' },
};

export function architecture(): Architecture {
  return ARCHITECTURES[arch()] ?? { image: arch(), triplet: `${arch()}-linux-gnu` };
}
