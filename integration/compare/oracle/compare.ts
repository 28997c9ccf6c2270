import { isDeepStrictEqual } from 'node:util';
import type { Answer } from './answer.ts';

/** What differs, a line each: `ns/web/TCP/IPv4 cluster: ours [] upstream ["10.244.0.1:8080"]`. */
export function differencesBetween(ours: Answer, upstream: Answer): string[] {
  const oursByKey = new Map<string, object>(ours.ports.map((port) => [port.key, port]));
  const upstreamByKey = new Map<string, object>(upstream.ports.map((port) => [port.key, port]));
  const keys = [...new Set([...oursByKey.keys(), ...upstreamByKey.keys()])].sort();
  return [
    ...keys.flatMap((key) => fieldsThatDiffer(key, oursByKey.get(key), upstreamByKey.get(key))),
    ...fieldsThatDiffer('health', ours.health, upstream.health),
  ];
}

function fieldsThatDiffer(
  name: string,
  ours: object | undefined,
  upstream: object | undefined,
): string[] {
  if (!ours) return [`${name}: only upstream has it`];
  if (!upstream) return [`${name}: only we have it`];
  const left = new Map<string, unknown>(Object.entries(ours));
  const right = new Map<string, unknown>(Object.entries(upstream));
  return [...new Set([...left.keys(), ...right.keys()])]
    .filter((field) => !isDeepStrictEqual(left.get(field), right.get(field)))
    .map((field) => {
      const [mine, theirs] = [left, right].map((side) => JSON.stringify(side.get(field)));
      return `${name} ${field}: ours ${mine} upstream ${theirs}`;
    });
}
