import { LineCounter, parseAllDocuments } from 'yaml';
import { describeError } from '../cluster-error.ts';
import { parseJson } from '../json.ts';

/** A document of a manifest file, or why it could not be read. */
export type ManifestDocument =
  | { readonly line: number; readonly value: unknown }
  | { readonly line: number; readonly problem: string };

/** Reads YAML with any number of documents, or JSON. Never throws. */
export function readDocuments(text: string): readonly ManifestDocument[] {
  // Parsing a large JSON list as JSON is a hundred times faster than as YAML.
  const json = /^\s*[[{]/.test(text) ? parseJson(text) : undefined;
  if (json !== undefined) return [{ line: 1, value: json.value }];
  try {
    return readYaml(text);
  } catch (error) {
    return [{ line: 1, problem: describeError(error) }];
  }
}

function readYaml(text: string): readonly ManifestDocument[] {
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, {
    lineCounter,
    prettyErrors: false,
    logLevel: 'silent',
    merge: true,
  });
  const lineAt = (offset: number): number => lineCounter.linePos(offset).line;
  return [...documents].map((document): ManifestDocument => {
    const [error] = document.errors;
    if (error !== undefined) return { line: lineAt(error.pos[0]), problem: error.message };
    const line = lineAt(document.contents?.range?.[0] ?? document.range[0]);
    try {
      return { line, value: document.toJS() };
    } catch (error) {
      return { line, problem: describeError(error) };
    }
  });
}
