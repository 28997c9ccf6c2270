import { scopeText } from '../../agent/scope-report.ts';
import type { StatusPage } from '../../agent/status-page.ts';
import type { StatusWords, Trouble } from '../../modes/status-words.ts';
import { clientsText, unservedText } from '../services/select-rows.ts';
import { wrapped } from '../terminal/fit.ts';
import { details } from './details.ts';
import { colour, countText } from './status-texts.ts';
import { summary } from './summary.ts';
import { troublesOf } from './trouble.ts';

export interface StatusForm {
  readonly isVerbose?: boolean;
  /** Columns of the terminal. */
  readonly width?: number;
  /** Of its mode; undefined: the mode adds nothing to the page. */
  readonly words?: StatusWords | undefined;
}

const WIDTH = 80;
const INDENT = '  ';

/**
 * Problems first; three lines for a healthy node, and one for what it does not serve by
 * configuration.
 */
export function statusView(page: StatusPage, form: StatusForm = {}): string {
  const { isVerbose = false, width = WIDTH, words } = form;
  const sections = [
    troublesOf(page, words)
      .map((trouble) => troubleText(trouble, width))
      .join('\n'),
    [...summary(page, width, words), ...limits(page, width)].join('\n'),
    ...(isVerbose ? details(page, width, words) : []),
  ];
  return sections.filter((text) => text !== '').join('\n\n');
}

function troubleText({ what, next }: Trouble, width: number): string {
  const indented = (text: string): string[] => wrapped(text, width - INDENT.length);
  const [first = '', ...rest] = wrapped(`! ${what}`, width);
  const lines = [first, ...indented(rest.join(' ')).filter((line) => line !== '')];
  const told = lines.map((line, index) => colour('yellow', index === 0 ? line : INDENT + line));
  return [...told, ...indented(`next: ${next}`).map((line) => INDENT + line)].join('\n');
}

/**
 * The zone and the Services and addresses that this machine serves by configuration; empty if it
 * serves everything.
 */
function limits(page: StatusPage, width: number): string[] {
  const { node, clientInterfaces, zone, scope, serviceRoutes, podTunnels } = page;
  const empty = scope?.empty ?? [];
  const texts = [
    zone === undefined ? '' : `zone: ${zone}`,
    scope === undefined ? '' : `scope: ${scopeText(scope)}`,
    empty.length === 0 ? '' : `no Service found in ${empty.join(', ')}`,
    clientsText(clientInterfaces),
    unservedText(node),
    routesText(serviceRoutes),
    tunnelsText(podTunnels),
  ];
  return texts.filter((text) => text !== '').flatMap((text) => wrapped(text, width));
}

/** Empty where other routes lead to every Service range. */
function routesText(routes: StatusPage['serviceRoutes'] = []): string {
  const shown = routes.filter(({ state, problem }) => state !== 'covered' || problem !== undefined);
  if (shown.length === 0) return '';
  const texts = shown.map(({ range, problem }) => (problem ? `${range} (${problem})` : range));
  return `routes to Service ranges, dev lo: ${texts.join(', ')}`;
}

/** Empty where pods are reached by packets. */
function tunnelsText(tunnels: StatusPage['podTunnels']): string {
  if (tunnels === undefined) return '';
  const { open, idle, waiting, connectionsTotal } = tunnels;
  const kept = idle === 0 ? '' : ` (${idle.toLocaleString('en-US')} idle)`;
  const queue = waiting === 0 ? '' : `, ${countText(waiting, 'connection')} waiting for one`;
  const carried = `${countText(connectionsTotal, 'connection')} so far`;
  return `pods through the API server: ${countText(open, 'tunnel')}${kept}${queue}; ${carried}`;
}
