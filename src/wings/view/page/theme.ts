const KEY = 'fairlead-view-theme';
const CHOICES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof CHOICES)[number];

export function chosenTheme(): Theme {
  const stored = localStorage.getItem(KEY);
  return CHOICES.find((choice) => choice === stored) ?? 'system';
}

export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

export function nextTheme(): Theme {
  const next = CHOICES[(CHOICES.indexOf(chosenTheme()) + 1) % CHOICES.length] ?? 'system';
  localStorage.setItem(KEY, next);
  applyTheme(next);
  return next;
}
