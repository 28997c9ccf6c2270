const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone: 'UTC' });
const DATE = new Intl.DateTimeFormat('en-CA', { dateStyle: 'short', timeZone: 'UTC' });

/** `14:07:31`, in UTC like `fairlead history`. */
export function timeOfDay(atMs: number): string {
  return TIME.format(atMs);
}

/** `2026-11-17 14:07:31.204 UTC`. */
export function exactTime(atMs: number): string {
  const millis = String(Math.floor(atMs) % 1000).padStart(3, '0');
  return `${DATE.format(atMs)} ${TIME.format(atMs)}.${millis} UTC`;
}

export function dayOf(atMs: number): string {
  return DATE.format(atMs);
}
