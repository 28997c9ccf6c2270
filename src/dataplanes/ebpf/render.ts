import type { Forwarding, Frontend, SourceClass } from '../../forwarding/model.ts';
import { frontendText } from './entry-text.ts';
import { CLASS_ORDER } from './layout.ts';
import { frontendKeyOf, sequenceOf, servedFrontends } from './row.ts';

/** An entry of a map, and what it does in a sentence. */
export interface RenderedEntry {
  readonly map: string;
  readonly text: string;
  readonly does: string;
}

/**
 * The entries of one frontend. Where in the map its endpoints are is decided when they are written,
 * so slots count from the first of the service port.
 */
export function renderedEntries(row: Forwarding, frontend: Frontend): RenderedEntry[] {
  const served = servedFrontends(row);
  if (!served.includes(frontend)) return [];
  const { endpoints, lists } = sequenceOf(row, served);
  const entries = CLASS_ORDER.filter((source) => source !== 'outside').map((source) => {
    const outcome = frontend.outcomes[source];
    const { offset, count } =
      outcome.action === 'forward' ? lists[outcome.list] : { offset: 0, count: 0 };
    const slots = count === 0 ? '' : ` slots +${offset}..+${offset + count - 1}`;
    const reason = whyLeft(frontend, source);
    return {
      map: 'frontends',
      text: `${keyText(row, frontend)} from ${source} :${slots || ` ${outcome.action}`}`,
      does: reason === undefined ? chooses(row, count) : `passes the hook: ${reason}`,
    };
  });
  const slots = endpoints.map(({ address, port }, index) => ({
    map: 'slots',
    text: `+${index} : ${address.includes(':') ? `[${address}]` : address}:${port}`,
    does: '',
  }));
  return [...entries, ...slots];
}

function keyText(row: Forwarding, frontend: Frontend): string {
  return frontendText(frontendKeyOf(row, frontend)).replace(/^ebpf frontends \{ (.*) \}$/, '$1');
}

/** As is_for_sockets in bpf/sock.bpf.c decides; undefined: the hook serves it. */
function whyLeft({ outcomes, allowedSources }: Frontend, source: SourceClass): string | undefined {
  const outcome = outcomes[source];
  if (outcome.action !== 'forward') return `the rules behind ${outcome.action} it`;
  if (allowedSources) return 'its source is not known before it is routed';
  if (source === 'pod' && outcome.masquerade) return 'it must be masqueraded';
  return undefined;
}

function chooses({ affinitySeconds }: Forwarding, count: number): string {
  if (count === 0) return 'passes the hook: there is no endpoint';
  const one = count === 1 ? 'the only endpoint' : `one of ${count} endpoints`;
  const stays = affinitySeconds > 0 ? `, the same for ${affinitySeconds} s` : '';
  return `the socket gets ${one}${stays}`;
}
