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
  const { node, target } = beyond;
  const command = `kubectl fairlead explain ${target} --from host --node ${node}`;
  return { ...explanation, beyond, next: [...explanation.next, command] };
}

function beyondOf(explanation: Explanation): Beyond | undefined {
  const { code, node: own, proof, candidates, question } = explanation;
  const isElsewhere = proof?.drop?.isHere === false;
  if (!LEFT.has(code) && !isElsewhere) return undefined;
  const target = failingEndpoint(explanation);
  const node = candidates.find(({ endpoint }) => endpoint === target)?.nodeName ?? '';
  if (target === undefined || node === '' || node === own) return undefined;
  return { node, target: `${target}${question.protocol === 'UDP' ? '/udp' : ''}` };
}

function failingEndpoint({ each = [], proof }: Explanation): string | undefined {
  const failing = each.find(({ code }) => code !== undefined && LEFT.has(code));
  if (failing !== undefined) return failing.endpoint;
  return proof?.outcome.is === 'forwarded' ? proof.outcome.endpoint : undefined;
}
