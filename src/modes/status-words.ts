import type { StatusPage } from '../agent/status-page.ts';

/** A problem, and what to do about it. */
export interface Trouble {
  readonly what: string;
  readonly next: string;
}

/** What `fairlead status` says of the fields that a mode adds to the page. */
export interface StatusWords {
  lines(page: StatusPage, width: number): readonly string[];
  troubles(page: StatusPage): readonly Trouble[];
  /** For `-v`. Empty: nothing. */
  details(page: StatusPage, width: number): string;
  /** Whether `troubles` tells as it is now what the last drift was about. */
  tellsOwnDrift?(page: StatusPage): boolean;
}
