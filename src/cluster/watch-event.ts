import { integerAt, isRecord, recordAt, textAt } from './json.ts';

/** A parsed watch event. */
export type WatchEvent =
  | { readonly type: 'put' | 'delete'; readonly object: unknown }
  | {
      readonly type: 'bookmark';
      readonly resourceVersion: string;
      /** The initial events are complete. */
      readonly endsInitialEvents: boolean;
    }
  | { readonly type: 'error'; readonly status: StatusObject };

/** The Status object of a failed request. */
export interface StatusObject {
  /** 0: not given. */
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly retryAfterMs: number | undefined;
}

const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';
const MAX_MESSAGE_LENGTH = 500;
const CODE_BOUNDS = { min: 100, max: 599 } as const;
const RETRY_BOUNDS = { min: 1, max: 86_400 } as const;

/** Undefined: not a known event. Never throws. */
export function readWatchEvent(event: unknown): WatchEvent | undefined {
  if (!isRecord(event)) return undefined;
  switch (event['type']) {
    case 'ADDED':
    case 'MODIFIED':
      return { type: 'put', object: event['object'] };
    case 'DELETED':
      return { type: 'delete', object: event['object'] };
    case 'BOOKMARK': {
      const metadata = recordAt(recordAt(event, 'object'), 'metadata');
      return {
        type: 'bookmark',
        resourceVersion: textAt(metadata, 'resourceVersion'),
        endsInitialEvents: recordAt(metadata, 'annotations')[INITIAL_EVENTS_END] === 'true',
      };
    }
    case 'ERROR':
      return { type: 'error', status: readStatus(event['object']) };
    default:
      return undefined;
  }
}

export function readStatus(raw: unknown): StatusObject {
  const status = isRecord(raw) ? raw : {};
  const seconds = integerAt(recordAt(status, 'details'), 'retryAfterSeconds', RETRY_BOUNDS);
  return {
    code: integerAt(status, 'code', CODE_BOUNDS),
    reason: textAt(status, 'reason').slice(0, MAX_MESSAGE_LENGTH),
    message: textAt(status, 'message').slice(0, MAX_MESSAGE_LENGTH),
    retryAfterMs: seconds === 0 ? undefined : seconds * 1000,
  };
}
