import type { Code } from './codes.ts';
import type { Beyond, Explanation } from './explanation.ts';

const LEFT: ReadonlySet<Code> = new Set([
  'ENDPOINT_SILENT',
  'ENDPOINT_REFUSES',
  'NO_ANSWER',
  'SOME_ENDPOINTS_FAIL',
] as const);

/** The same, with the question for the node that should have answered. */
export function withBeyond(explanation: Explanation): Explanation {
  const beyond = beyondOf(explanation);
  if (beyond === undefined) return explanation;
  const { node, target, from } = beyond;
  const address = addressOf(target);
  const next = [
    ...explanation.next,
    `ip route get ${address}`,
    `on ${node}: fairlead explain ${target} --from ${from} --watch 60s, while the client connects`,
  ];
  return { ...explanation, beyond, next };
}

function beyondOf(explanation: Explanation): Beyond | undefined {
  const { code, node: own, candidates, question } = explanation;
  const failing = LEFT.has(code) ? failingEndpoint(explanation) : undefined;
  const node = candidates.find(({ endpoint }) => endpoint === failing?.endpoint)?.nodeName ?? '';
  if (failing === undefined || node === '' || node === own) return undefined;
  const { endpoint, from } = failing;
  return { node, target: `${endpoint}${question.protocol === 'UDP' ? '/udp' : ''}`, from };
}

/** A packet straight to an endpoint keeps the address of its client. */
function failingEndpoint({
  each = [],
  proof,
  question,
}: Explanation): { readonly endpoint: string; readonly from: string } | undefined {
  const failing = each.find(({ code }) => code !== undefined && LEFT.has(code));
  if (failing !== undefined && question.from.address !== undefined) {
    return { endpoint: failing.endpoint, from: question.from.address };
  }
  if (proof?.outcome.is !== 'forwarded') return undefined;
  return { endpoint: proof.outcome.endpoint, from: addressOf(proof.outcome.seenAs) };
}

/** Of `10.1.3.17:8080`, `[fd00::1]:80/udp`. */
function addressOf(end: string): string {
  return end.slice(0, end.lastIndexOf(':')).replace(/^\[|\]$/g, '');
}
