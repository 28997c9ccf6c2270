import type { DoctorExpectation, Incident } from './incident.ts';
import type { Got } from './question.ts';
import type { Observed } from './result.ts';

const REACHES = 0;
const DOES_NOT_REACH: readonly number[] = [3, 4];
const REFUSAL = /^(REFUSED|ENDPOINT_REFUSES)/;
const MOST_COMMANDS = 2;
const SILENCE = /^(DROPPED|ENDPOINT_SILENT|NO_ANSWER|NOT_FORWARDED)/;

type Judged = Pick<Incident, 'client' | 'gets' | 'explain' | 'doctor' | 'also'>;

/** Everything that is wrong with the answers; empty: the tools told the truth, and how to go on. */
export function faultsIn(incident: Judged, observed: Observed): string[] {
  return [
    ...contradictions(incident, observed),
    ...explainFaults(incident, observed),
    ...nextFaults(incident, observed),
    ...doctorFaults(incident.doctor, observed),
    ...otherFaults(incident, observed),
  ];
}

/** Commands typed until one has named the cause: `explain`; or after it the one in `next`, or doctor. */
export function commandsToCause(
  { explain: { cause } }: Pick<Incident, 'explain'>,
  { explain, next, doctor }: Observed,
): number | undefined {
  if (cause.test(flat(explain.text))) return 1;
  const findings = doctor?.findings.map(({ what }) => what) ?? [];
  const second = [...findings, ...(next === undefined ? [] : [next.text])];
  return second.some((text) => cause.test(flat(text))) ? 2 : undefined;
}

/** What `explain` says against what the real client got, whatever was expected. */
function contradictions({ client }: Judged, { got, explain }: Observed): string[] {
  if (client === undefined) return [];
  const isAnswered = got.every((each) => each === 'answered');
  const { exit, code = '' } = explain;
  const both = ` (${code}, exit ${exit}), and the client: ${gotText(got)}`;
  if (exit === REACHES && !isAnswered) return [`says that it reaches${both}`];
  if (DOES_NOT_REACH.includes(exit) && isAnswered) return [`says that it does not reach${both}`];
  if (REFUSAL.test(code) && !got.includes('refused')) return [`says refused${both}`];
  const silences: readonly Got[] = ['timed out', 'accepted, then silent'];
  const isSilent = got.some((each) => silences.includes(each));
  return SILENCE.test(code) && !isSilent ? [`says silence${both}`] : [];
}

function explainFaults({ explain: wanted }: Judged, observed: Observed): string[] {
  const { code, exit, firstLine } = observed.explain;
  const codes: readonly (string | undefined)[] = [wanted.code].flat();
  return [
    ...(codes.includes(code) ? [] : [`code ${code ?? 'none'}, not ${codes.join(' or ')}`]),
    ...(exit === wanted.exit ? [] : [`exit ${exit}, not ${wanted.exit}`]),
    ...(wanted.says.test(firstLine) ? [] : [`the first line lacks ${wanted.says}`]),
    ...(wanted.saysNot?.test(firstLine) ? [`the first line says ${wanted.saysNot}`] : []),
    ...(wanted.tellsNot?.test(flat(observed.explain.text)) ? [`it says ${wanted.tellsNot}`] : []),
    ...causeFaults(wanted, observed),
  ];
}

function causeFaults(wanted: Judged['explain'], observed: Observed): string[] {
  const commands = commandsToCause({ explain: wanted }, observed);
  if (commands === undefined) return [`no command names the cause, ${wanted.cause}`];
  const isLate = commands > (wanted.most ?? MOST_COMMANDS);
  return isLate ? [`explain itself does not name the cause, ${wanted.cause}`] : [];
}

function nextFaults({ explain: { next: wanted } }: Judged, observed: Observed): string[] {
  if (wanted === undefined) return [];
  const { next } = observed.explain;
  if (!next.some((line) => wanted.names.test(line))) return [`no next names ${wanted.names}`];
  if (wanted.typed === undefined) return [];
  if (observed.next === undefined) return ['its next is no command that can be typed'];
  if (wanted.typed === 'shows') return [];
  const after = observed.gotAfter ?? [];
  const isRepaired = after.length > 0 && after.every((each) => each === 'answered');
  return isRepaired ? [] : [`its next, typed, does not repair it: ${gotText(after)}`];
}

function doctorFaults(wanted: DoctorExpectation | undefined, { doctor }: Observed): string[] {
  if (wanted === undefined) return [];
  const { code, tells, next } = wanted;
  const found = doctor?.findings.filter((finding) => finding.code === code) ?? [];
  if (found.length === 0) return [`doctor does not find ${code}`];
  const isTold = tells === undefined || found.some(({ what }) => tells.test(what));
  const hasNext = next === undefined || found.some((finding) => next.test(finding.next ?? ''));
  return [
    ...(isTold ? [] : [`${code} of doctor lacks ${tells}`]),
    ...(hasNext ? [] : [`next of ${code} of doctor lacks ${next}`]),
  ];
}

function otherFaults({ also = [] }: Judged, observed: Observed): string[] {
  return also.flatMap(({ typed, tells, not, exit }, at) => {
    const seen = observed.also[at];
    if (seen === undefined) return [`\`${typed}\` was not typed`];
    const text = flat(seen.text);
    return [
      ...(tells.test(text) ? [] : [`\`${typed}\` lacks ${tells}`]),
      ...(not?.test(text) ? [`\`${typed}\` says ${not}`] : []),
      ...(exit === undefined || exit === seen.exit ? [] : [`\`${typed}\`: exit ${seen.exit}`]),
    ];
  });
}

/** `answered, timed out`. */
export function gotText(got: readonly Got[]): string {
  return got.length === 0 ? 'nothing' : [...new Set(got)].sort().join(', ');
}

/** Terminal lines are broken anywhere. */
function flat(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}
