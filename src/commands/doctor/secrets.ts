const HIDDEN = '(redacted)';

/** What the name of a field ends with, in a kubeconfig, an environment, a flag or a log, if its value is secret. */
const SECRET_NAMES = [
  'token',
  'secret',
  'password',
  'passwd',
  'api[_-]?key',
  'access[_-]?key',
  'key[_-]?data',
  'certificate[_-]?data',
  'authority[_-]?data',
];
/** In JSON that is a text inside of JSON, quotes have backslashes before them. */
const QUOTE = `\\\\*["']`;
const QUOTED = `\\\\*"[^"]*"|\\\\*'[^']*'`;
/** YAML: all following lines that are indented, or empty. */
const BLOCK = '[|>][+-]?[^\\n]*\\n(?:[ \\t]+[^\\n]*(?:\\n|$))*';
const SECRET_FIELD = new RegExp(
  `([\\w-]*(?:${SECRET_NAMES.join('|')})(?:${QUOTE})?[ \\t]*[:=][ \\t]*)(${BLOCK}|${QUOTED}|[^\\s,}"';&]+)`,
  'gi',
);
const PEM = /-----BEGIN [A-Z ]+-----[\s\S]*?-----END [A-Z ]+-----/g;
/** A token of a ServiceAccount: three parts of base64, the first of which is JSON. */
const WEB_TOKEN = /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g;
const BEARER = /\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi;
/** Name and password in an address. */
const USER_IN_URL = /(\w+:\/\/)[^\s/@]+@/g;

/** The text without what could be used to log in. */
export function withoutSecrets(text: string): string {
  return text
    .replace(PEM, HIDDEN)
    .replace(WEB_TOKEN, HIDDEN)
    .replace(BEARER, (_, kind: string) => `${kind} ${HIDDEN}`)
    .replace(USER_IN_URL, (_, scheme: string) => `${scheme}${HIDDEN}@`)
    .replace(SECRET_FIELD, (_, name: string) => `${name}${HIDDEN}`);
}
