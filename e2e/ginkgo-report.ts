import { readFile } from 'node:fs/promises';
import type { SpecResult, SpecState } from './result.ts';

/** The fields of Ginkgo's JSON report that are read here. */
interface GinkgoSpec {
  readonly LeafNodeType: string;
  readonly LeafNodeText: string;
  readonly ContainerHierarchyTexts: readonly string[] | null;
  readonly State: string;
  /** Nanoseconds. */
  readonly RunTime: number;
  readonly Failure?: { readonly Message?: string; readonly ForwardedPanic?: string };
  readonly CapturedGinkgoWriterOutput?: string;
}

interface GinkgoSuite {
  readonly SpecReports: readonly GinkgoSpec[] | null;
}

const NANOSECONDS = 1e9;

export async function readGinkgoReport(file: string): Promise<SpecResult[]> {
  return parseGinkgoReport(await readFile(file, 'utf8'));
}

/** The specs that ran or skipped themselves; those that were not chosen are in the report too. */
export function parseGinkgoReport(json: string): SpecResult[] {
  const suites = JSON.parse(json) as GinkgoSuite[];
  return suites
    .flatMap((suite) => suite.SpecReports ?? [])
    .filter((spec) => spec.LeafNodeType === 'It')
    .map(resultOf)
    .filter((result) => result.state !== 'skipped' || result.message !== '');
}

function resultOf(spec: GinkgoSpec): SpecResult {
  return {
    name: [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText].join(' '),
    state: stateOf(spec.State),
    seconds: spec.RunTime / NANOSECONDS,
    message: spec.Failure?.ForwardedPanic || spec.Failure?.Message || '',
    output: spec.CapturedGinkgoWriterOutput ?? '',
  };
}

/** Ginkgo has several words for an end that is no success: panicked, timedout, interrupted, aborted. */
function stateOf(word: string): SpecState {
  if (word === 'passed') return 'passed';
  return word === 'skipped' || word === 'pending' ? 'skipped' : 'failed';
}
