import type { Route } from './route.ts';
import type { Store } from './store.ts';

export interface ScreenContext {
  readonly store: Store;
  readonly route: Route;
  /** Aborted when another screen is shown. */
  readonly signal: AbortSignal;
  /** Leads to another route; `replace`: without a step back to this one. */
  readonly go: (hash: `#/${string}`, how?: 'replace') => void;
}

/** Builds a screen; it follows the store until its signal is aborted. */
export type OpenScreen = (context: ScreenContext) => HTMLElement;
