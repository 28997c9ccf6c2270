import { isRecord, parseJson, textAt } from '../../cluster/json.ts';

/** What a token of a ServiceAccount says of itself, unverified: only the API server can verify it. */
export interface TokenClaims {
  readonly account: { readonly namespace: string; readonly name: string };
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
}

const SUBJECT = /^system:serviceaccount:([^:]+):([^:]+)$/;

/** Undefined: not a token of a ServiceAccount with an end. */
export function tokenClaims(token: string): TokenClaims | undefined {
  const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8');
  const claims = parseJson(payload)?.value;
  if (!isRecord(claims)) return undefined;
  const [, namespace, name] = SUBJECT.exec(textAt(claims, 'sub')) ?? [];
  const { iat, exp } = claims;
  if (namespace === undefined || name === undefined) return undefined;
  if (typeof iat !== 'number' || typeof exp !== 'number' || exp <= iat) return undefined;
  return { account: { namespace, name }, issuedAtMs: iat * 1000, expiresAtMs: exp * 1000 };
}

/** A token is renewed when this part of its life has passed: there is time to repair what fails. */
const RENEWED_AFTER = 1 / 5;
const LEAST_WAIT_MS = 60_000;
const MOST_RETRY_WAIT_MS = 10 * 60_000;

/** Clocks of the machine and of the API server may differ by this much. */
const CLOCK_SKEW_MS = 5 * 60_000;

/**
 * By a clock that may be wrong: too early costs a request, too late costs the access. A clock that is
 * before the start of the token does not tell its age, so it counts as old.
 */
export function isRenewalDue({ issuedAtMs, expiresAtMs }: TokenClaims, nowMs: number): boolean {
  const ageMs = nowMs - issuedAtMs;
  return ageMs >= (expiresAtMs - issuedAtMs) * RENEWED_AFTER || ageMs < -CLOCK_SKEW_MS;
}

/**
 * When the caller shall ask again: not at the end of the token but when it is due for renewal. Never
 * later than that from now, if the clock of the machine is behind.
 */
export function askAgainAtMs({ issuedAtMs, expiresAtMs }: TokenClaims, nowMs: number): number {
  const dueAfterMs = (expiresAtMs - issuedAtMs) * RENEWED_AFTER;
  return clamped(issuedAtMs + dueAfterMs, nowMs + LEAST_WAIT_MS, nowMs + dueAfterMs);
}

/** After a renewal that failed. */
export function retryAtMs({ issuedAtMs, expiresAtMs }: TokenClaims, nowMs: number): number {
  const waitMs = ((expiresAtMs - issuedAtMs) * RENEWED_AFTER) / 4;
  return nowMs + clamped(waitMs, LEAST_WAIT_MS, MOST_RETRY_WAIT_MS);
}

function clamped(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value));
}
