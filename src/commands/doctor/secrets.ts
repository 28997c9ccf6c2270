const HIDDEN = '(redacted)';

/** Names of fields in a kubeconfig, a configuration or a log whose values are secret. */
const SECRET_FIELDS = [
  'token',
  'password',
  'client-key-data',
  'client-certificate-data',
  'certificate-authority-data',
  'id-token',
  'refresh-token',
  'access-token',
  'client-secret',
];
const SECRET_FIELD = new RegExp(
  `((?:^|[\\s{,"'])(?:${SECRET_FIELDS.join('|')})["']?\\s*[:=]\\s*)("[^"]*"|'[^']*'|[^\\s,}"';]+)`,
  'gim',
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
