import type { Problem } from './protocol/common.ts';

/** A response as a whole. */
export interface WholeResponse {
  readonly status: number;
  readonly type: string;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

const OK = 200;
const SEE_OTHER = 303;
const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * The page may load its own files and data and nothing else, runs no inline script, and cannot be
 * framed. Nothing is cached: names of Services would stay on the disk.
 */
export const SAFE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

export function jsonResponse(value: unknown): WholeResponse {
  return { status: OK, type: JSON_TYPE, body: JSON.stringify(value) };
}

export function problemResponse(status: number, problem: Problem): WholeResponse {
  return { ...jsonResponse(problem), status };
}

/** To the same page without the token, which would stay in the history of the browser. */
export function signedInResponse(cookie: string): WholeResponse {
  const headers = { Location: '/', 'Set-Cookie': cookie };
  return { status: SEE_OTHER, type: 'text/plain; charset=utf-8', body: '', headers };
}
