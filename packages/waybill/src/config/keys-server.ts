import type { ConfigKey } from './config-key.ts';
import { address, list, onOrOff, text, whole } from './kinds.ts';

/** What `serve` and `dev` listen on, and who may call them. */
export const SERVER_KEYS: readonly ConfigKey[] = [
  {
    ...{ path: 'server.host', kind: text, env: 'WAYBILL_HOST', flag: 'host', default: '127.0.0.1' },
    about: 'address to listen on',
  },
  {
    ...{ path: 'server.port', kind: whole(0, 65_535), env: 'WAYBILL_PORT', flag: 'port', default: '8080' },
    about: 'port to listen on; 0 takes any free one',
  },
  {
    ...{ path: 'server.grpcPort', kind: whole(0, 65_535), env: 'WAYBILL_GRPC_PORT', flag: 'grpc-port' },
    about: 'port for gRPC; 0 takes any free one',
    default: 'none',
  },
  {
    ...{ path: 'server.tls.cert', kind: text, env: 'WAYBILL_TLS_CERT', flag: 'tls-cert' },
    about: 'speak HTTPS with the certificate in this file',
    namesSecretFile: true,
  },
  {
    ...{ path: 'server.tls.key', kind: text, env: 'WAYBILL_TLS_KEY', flag: 'tls-key' },
    about: 'the file with its key',
    namesSecretFile: true,
  },
  {
    ...{ path: 'server.auth', kind: onOrOff, env: 'WAYBILL_AUTH', flag: 'auth', default: 'beyond loopback' },
    about: 'ask for keys on loopback too',
  },
  {
    ...{ path: 'server.noAuth', kind: onOrOff, flag: 'no-auth', default: 'false' },
    ...{ about: 'take calls without a key, also beyond loopback' },
    yieldsTo: { flags: ['auth', 'keys', 'jwt-issuer'], env: ['WAYBILL_AUTH'] },
  },
  {
    ...{ path: 'server.keys', kind: text, env: 'WAYBILL_KEYS', secret: true },
    about: 'keys that no store keeps, as `waybill keys create --print-entry` prints them',
  },
  {
    ...{ path: 'server.keysFile', kind: text, flag: 'keys', about: 'a file with such keys' },
    namesSecretFile: true,
    yieldsTo: { flags: ['no-auth'], env: ['WAYBILL_KEYS'] },
  },
  {
    ...{ path: 'server.tokenSecret', kind: text, env: 'WAYBILL_TOKEN_SECRET', secret: true },
    ...{ default: 'a key in the store', about: 'what lease tokens are signed with' },
  },
  {
    ...{ path: 'server.tokenSecretFile', kind: text, flag: 'token-secret', about: 'a file with that secret' },
    namesSecretFile: true,
    yieldsTo: { env: ['WAYBILL_TOKEN_SECRET'] },
  },
  {
    ...{ path: 'server.jwt.issuer', kind: text, env: 'WAYBILL_JWT_ISSUER', flag: 'jwt-issuer' },
    about: 'take tokens of this issuer',
  },
  {
    ...{ path: 'server.jwt.audience', kind: text, env: 'WAYBILL_JWT_AUDIENCE', flag: 'jwt-audience' },
    about: 'that are for this audience',
  },
  {
    ...{ path: 'server.jwt.jwks', kind: address, env: 'WAYBILL_JWT_JWKS', flag: 'jwt-jwks' },
    about: 'its public keys: https://.. or a file',
  },
  {
    ...{ path: 'server.jwt.tenant', kind: text, env: 'WAYBILL_JWT_TENANT', flag: 'jwt-tenant' },
    about: 'the tenant of tokens that name none',
  },
  {
    ...{ path: 'server.sessionHours', kind: whole(1, 720), env: 'WAYBILL_SESSION_HOURS', flag: 'session-hours' },
    ...{ default: '12', about: 'how long a session lasts' },
  },
  {
    ...{ path: 'server.requestsPerMinute', kind: whole(1, 1_000_000), env: 'WAYBILL_REQUESTS_PER_MINUTE' },
    ...{ flag: 'requests-per-minute', about: 'of each key that has no limit of its own' },
  },
  {
    ...{ path: 'server.openRequests', kind: whole(1, 1_000_000), env: 'WAYBILL_OPEN_REQUESTS', flag: 'open-requests' },
    ...{ default: 'half of the connections', about: 'requests of each key under way at once' },
  },
  {
    ...{ path: 'server.cors', kind: list, env: 'WAYBILL_CORS_ORIGINS', flag: 'cors-origin' },
    about: 'origins whose pages may call',
  },
  {
    ...{ path: 'server.trustProxy', kind: onOrOff, env: 'WAYBILL_TRUST_PROXY', flag: 'trust-proxy', default: 'false' },
    about: 'believe X-Forwarded-* of proxies',
  },
  {
    ...{ path: 'server.proxies', kind: list, env: 'WAYBILL_PROXY_ADDRESSES', flag: 'proxy-address' },
    ...{ default: 'private addresses', about: 'ranges of addresses that are proxies' },
  },
  {
    ...{ path: 'server.allowedHosts', kind: list, env: 'WAYBILL_ALLOWED_HOSTS', flag: 'allow-host' },
    about: 'names that a request may give as its Host, besides localhost',
  },
  {
    ...{ path: 'server.maxConnections', kind: whole(1, 1_000_000), env: 'WAYBILL_MAX_CONNECTIONS' },
    ...{ flag: 'max-connections', default: '10000', about: 'connections at the same time' },
  },
  {
    ...{ path: 'server.requireLease', kind: onOrOff, flag: 'require-lease', default: 'false' },
    about: 'refuse to settle a job without its lease token',
  },
  {
    ...{ path: 'server.testDirectives', kind: onOrOff, flag: 'test-directives', default: 'false' },
    about: 'let jobs steer their workers, for conformance suites',
  },
  {
    ...{ path: 'server.webhookTargets', kind: list, env: 'WAYBILL_WEBHOOK_TARGETS', flag: 'webhook-target' },
    about: 'private ranges that webhooks may go to, over plain http too',
  },
  {
    ...{ path: 'server.allowPrivateWebhooks', kind: onOrOff, flag: 'allow-private-webhooks', default: 'false' },
    about: 'let webhooks go to private ranges and over plain http',
  },
];
