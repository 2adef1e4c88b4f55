/** Stands for everything that may be secret. */
const MASK = '***';

/** A name whose value is a secret, as it stands in query strings, connection strings and settings. */
const NAMES = [
  ...['password', 'passwd', 'pwd', 'secret', 'client_secret', 'token', 'access_token', 'refresh_token', 'id_token'],
  ...['session_token', 'api_?key', 'x-api-key', 'secret_?access_?key', 'access_?key_?id', 'signature'],
  ...['x-amz-signature', 'x-amz-credential', 'x-amz-security-token', 'x-goog-signature', 'awsaccesskeyid'],
].join('|');

/** Where a name begins. Texts are also looked at as JSON, where a line break is a backslash and a letter. */
const BEFORE = `(?<=^|[?&;\\s"'{,]|\\\\[nrt])`;

const RULES: readonly (readonly [pattern: RegExp, shown: string])[] = [
  // The id of a key stands in front of its secret and may be shown.
  [/wb_([a-z2-9]{12})_[A-Za-z0-9_-]{20,}/g, `wb_$1_${MASK}`],
  [/whsec_[A-Za-z0-9+/_=-]{8,}/g, `whsec_${MASK}`],
  [/eyJ[\w-]{6,500}\.[\w-]*(?:\.[\w-]*)?/g, MASK],
  [/(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, MASK],
  // The user info of an address. A password may hold an `@` that is not encoded, so the last one ends it.
  // Lengths are bounded, so that no text takes long. Our hints show how an address looks, with `user:password`.
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/)(?!user:password@)[^\s/?#'"`<>]{0,1000}@/gi, `$1${MASK}@`],
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/)(?!user:password@)[^\s:/?#'"`<>@]{1,200}:[^\s'"`<>]{0,1000}@/gi, `$1${MASK}@`],
  [/(AWS4-HMAC-SHA256\s+)[^'"\n\\]+/g, `$1${MASK}`],
  [/((?:proxy-)?authorization["']?\s{0,9}[:=]\s{0,9}["']?)(?:\w{1,20}\s+)?[^\s"'\\]{8,}/gi, `$1${MASK}`],
  [/(-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----)[\s\S]{0,10000}?(?=-----END)/g, `$1${MASK}`],
  [/\b((?:PGPASSWORD|WAYBILL_KEY|AWS_SECRET_ACCESS_KEY|AWS_SESSION_TOKEN|waybill_session)=)[^\s;&"'\\]+/g, `$1${MASK}`],
  [/(Bearer\s+|bearer\s+(?=[\w.~+/=-]*\d)|Basic\s+(?=[\w+/]*[A-Z0-9=]))[\w.~+/=-]{8,}/g, `$1${MASK}`],
  [/((?:set-)?cookie["']?\s{0,9}[:=]\s{0,9}["']?)[^\n"'\\]{4,}/gi, `$1${MASK}`],
  [new RegExp(`${BEFORE}(${NAMES})(=|\\\\?["']\\s*:\\s*\\\\?["'])[^\\s&;"'#\\\\]+`, 'gi'), `$1$2${MASK}`],
  [new RegExp(`${BEFORE}(${NAMES})(:\\s)[^\\s&;"'#\\\\]{8,}`, 'gi'), `$1$2${MASK}`],
  [/(?<=[?&])(key|sig|code)=[^\s&;"'#\\]+/gi, `$1=${MASK}`],
];

/**
 * A text for logs and messages without what looks like a secret: keys, tokens, passwords in addresses, signatures. The last
 * defence, for texts that others have written, such as a driver's error. What we write ourselves never has a secret in it.
 */
export function withoutSecrets(text: string): string {
  // Most texts have none of these, and are answered as they are.
  if (!/[:=]|wb_|whsec_|eyJ|A[KS]IA|Bearer|Basic/i.test(text)) return text;
  return RULES.reduce((shown, [pattern, by]) => shown.replace(pattern, by), text);
}
