import type { HistoryRequest } from '../history/history-page.ts';

/** A part of a path as it was before it was encoded; undefined: it is not valid. */
export function decodedPart(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

const PATH = /^\/history(?:\/of\/([^/]+))?(?:\/within\/(\d{1,12}))?(?:\/after\/(\d{1,15}))?$/;

export function historyPath({ service, withinMs, afterSeq }: HistoryRequest): string {
  return [
    '/history',
    service === undefined ? '' : `/of/${encodeURIComponent(service)}`,
    withinMs === undefined ? '' : `/within/${Math.ceil(withinMs)}`,
    afterSeq === undefined ? '' : `/after/${afterSeq}`,
  ].join('');
}

/** Undefined: another path. */
export function parseHistoryPath(path: string): HistoryRequest | undefined {
  const found = PATH.exec(path);
  if (found === null) return undefined;
  const [, encoded, within, after] = found;
  const service = encoded === undefined ? undefined : decodedPart(encoded);
  if (encoded !== undefined && service === undefined) return undefined;
  return {
    ...(service === undefined ? {} : { service }),
    ...(within === undefined ? {} : { withinMs: Number(within) }),
    ...(after === undefined ? {} : { afterSeq: Number(after) }),
  };
}
