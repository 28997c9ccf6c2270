import type { Drop, Tuple } from './drop.ts';

/** What is known of a connection. */
export interface KnownConnection {
  readonly first: Tuple;
  readonly translated: Tuple | undefined;
}

/**
 * Whether a drop belongs to the connection, in either direction, before or after translation. The
 * network namespace of the endpoint may have a conntrack of its own, which knows the translated one.
 */
export function isOfConnection(
  { packet, original }: Pick<Drop, 'packet' | 'original'>,
  { first, translated }: KnownConnection,
): boolean {
  const tuples = translated === undefined ? [first] : [first, translated];
  return tuples.some(
    (known) =>
      isSame(packet, known) ||
      isSame(packet, reversed(known)) ||
      (original !== undefined && isSame(original, known)),
  );
}

function isSame(a: Tuple, b: Tuple): boolean {
  return (
    a.protocol === b.protocol &&
    a.source === b.source &&
    a.sourcePort === b.sourcePort &&
    a.destination === b.destination &&
    a.destinationPort === b.destinationPort
  );
}

function reversed(tuple: Tuple): Tuple {
  const { protocol, source, sourcePort, destination, destinationPort } = tuple;
  return {
    protocol,
    source: destination,
    sourcePort: destinationPort,
    destination: source,
    destinationPort: sourcePort,
  };
}
