/** Longest name of a Service or namespace, longest label value, and longest part of a label key. */
const MOST_CHARACTERS = 63;
const MOST_OF_A_SUBDOMAIN = 253;

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_PART = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/** A name such as that of a namespace or a Service. */
export function isDnsLabel(text: string): boolean {
  return text.length <= MOST_CHARACTERS && DNS_LABEL.test(text);
}

/** Labels joined by dots, such as `cluster.local`. */
export function isDnsSubdomain(text: string): boolean {
  return text.length <= MOST_OF_A_SUBDOMAIN && text.split('.').every(isDnsLabel);
}

/** Empty is a value too. */
export function isLabelValue(text: string): boolean {
  return text === '' || isLabelPart(text);
}

/** A name, or `prefix/name` with a DNS subdomain as its prefix. */
export function isLabelKey(text: string): boolean {
  const [first = '', second, ...others] = text.split('/');
  if (second === undefined) return isLabelPart(first);
  return others.length === 0 && isDnsSubdomain(first) && isLabelPart(second);
}

function isLabelPart(text: string): boolean {
  return text.length <= MOST_CHARACTERS && LABEL_PART.test(text);
}
