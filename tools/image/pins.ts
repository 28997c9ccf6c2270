import { ImageError } from './image-error.ts';
import type { Origin } from './origin.ts';

/** What a change of bytes asks for, where it is not meant. */
const RESTORE = {
  npm: () => 'npm ci, which installs what package-lock.json has a hash of',
  debian: ({ name, version }: Origin) => `apt-get install --reinstall ${name}=${version}`,
  bpf: ({ version }: Origin) => `remove dist/bpf, and compile with clang ${version}`,
} as const;

/** One line for each origin: kind, name, version, architecture, hash. */
export function parsePins(text: string): Origin[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [kind = '', name = '', version = '', architecture = '', sha256 = '', ...rest] =
        line.split(' ');
      if (!isKind(kind) || !/^[0-9a-f]{64}$/.test(sha256) || rest.length > 0) {
        const next = 'generate it again: npm run image -- --pin';
        throw new ImageError(
          'IMAGE_PINS_INVALID',
          `tools/image/pins.txt has an invalid line: '${line}'`,
          next,
        );
      }
      return { kind, name, version, architecture, sha256 };
    });
}

export function formatPins(pins: readonly Origin[]): string {
  const lines = pins.map(({ kind, name, version, architecture, sha256 }) =>
    [kind, name, version, architecture, sha256].join(' '),
  );
  return `${HEADER}${[...new Set(lines)].sort().join('\n')}\n`;
}

const HEADER = `# Everything that ships and is not a source of this repository, each with the hash of its files
# (tools/image/origin.ts). The image and the package are made only of these bytes.
# Written by: npm run image -- --pin
`;

export interface PinProblem {
  readonly message: string;
  readonly next: string;
}

/** Where what is here is not what is pinned. */
export function pinProblems(origins: readonly Origin[], pins: readonly Origin[]): PinProblem[] {
  return origins.flatMap((origin) => {
    const { kind, name, version, architecture } = origin;
    const what = `${kind} ${name} ${version} (${architecture})`;
    const pin = pins.find(
      (each) => each.kind === kind && each.name === name && each.architecture === architecture,
    );
    if (pin === undefined) return [{ message: `${what} is not pinned`, next: '' }];
    const next = RESTORE[kind](pin);
    if (pin.version !== version) {
      return [{ message: `${what}: the pinned version is ${pin.version}`, next }];
    }
    if (pin.sha256 === origin.sha256) return [];
    const hashes = `SHA-256 ${origin.sha256}, pinned ${pin.sha256}`;
    return [{ message: `${what} differs from what is pinned: ${hashes}`, next }];
  });
}

/** Ends the making of an image or a package of anything but the pinned bytes. */
export function assertPinned(origins: readonly Origin[], pins: readonly Origin[]): void {
  const problems = pinProblems(origins, pins);
  if (problems.length === 0) return;
  const remedies = [...new Set(problems.map(({ next }) => next).filter((next) => next !== ''))];
  throw new ImageError(
    'IMAGE_NOT_PINNED',
    problems.map(({ message }) => message).join('\n'),
    [
      ...remedies.map((remedy) => `to restore: ${remedy}`),
      'if the change is meant: npm run image -- --pin, and commit tools/image/pins.txt',
    ].join('\n'),
  );
}

function isKind(text: string): text is Origin['kind'] {
  return Object.hasOwn(RESTORE, text);
}
