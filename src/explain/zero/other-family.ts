import { type Forwarding, SOURCE_CLASSES } from '../../forwarding/model.ts';
import { serviceAt } from '../explain-words.ts';
import type { Remark } from '../explanation.ts';
import type { ZeroReason } from './zero-reason.ts';

/** Nothing is forwarded from anywhere. */
export function hasNoEndpoints({ frontends }: Forwarding): boolean {
  return frontends.every(({ outcomes }) =>
    SOURCE_CLASSES.every((source) => outcomes[source].action !== 'forward'),
  );
}

/** The same port in the other family, which has no endpoints. */
export function emptyTwin(row: Forwarding, rows: readonly Forwarding[]): Forwarding | undefined {
  return rows.find(
    (each) =>
      each.id.port === row.id.port &&
      each.id.protocol === row.id.protocol &&
      each.id.family !== row.id.family &&
      hasNoEndpoints(each),
  );
}

/** A client that is given both addresses by DNS may choose this one. */
export function twinRemark(twin: Forwarding, { text }: ZeroReason): Remark {
  const [frontend] = twin.frontends;
  const what = frontend === undefined ? 'it' : serviceAt(twin, frontend);
  return { topic: twin.id.family, text: `${what} has no endpoint: ${text}` };
}
