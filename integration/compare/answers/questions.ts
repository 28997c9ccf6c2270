import type { Manifests } from './objects.ts';

/** Arguments of `fairlead`. */
export type Call = readonly string[];

interface ListedService {
  readonly key: string;
  readonly frontends: readonly { readonly at: string; readonly address?: string }[];
  readonly protocol: string;
}

const SERVICES = ['table', 'wide', 'json', 'yaml'];
const RENDERINGS = [['-o', 'text'], ['-o', 'json'], ['--raw']];
const CLIENTS = ['pod', 'host', 'outside', '8.8.8.8'];

export const LISTED_AS = 'json';

/** What is asked about all objects at once. */
export function callsAbout({ path, node }: Manifests, mode: string): readonly Call[] {
  const of = ['-f', path, '--node', node];
  return [
    ...SERVICES.map((form) => ['services', '-o', form, '--proxy-mode', mode, ...of]),
    ...RENDERINGS.map((form) => ['render', ...form, '--mode', mode, ...of]),
  ];
}

/** A question about each listed frontend, in turn from each kind of client; `turn`: who begins. */
export function explainEach(
  { path, node }: Manifests,
  listed: string,
  of: { readonly mode: string; readonly turn: number },
): readonly Call[] {
  const basis = ['--proxy-mode', of.mode, '-f', path, '--node', node];
  const services = JSON.parse(listed) as readonly ListedService[];
  return services
    .flatMap(({ frontends, protocol }) =>
      frontends
        .filter(({ address }) => address !== undefined)
        .map(({ at }) => `${at}/${protocol.toLowerCase()}`),
    )
    .map((target, index) => {
      const client = CLIENTS[(index + of.turn) % CLIENTS.length] ?? 'pod';
      return ['explain', target, '--from', client, ...basis];
    });
}
