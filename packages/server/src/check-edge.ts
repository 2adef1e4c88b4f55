import { configuredTokenKeys, silentLogger, systemClock } from '@waybill/core';
import { JwtVerifier } from './auth/jwt.ts';
import type { JwtOptions } from './auth/jwt-options.ts';
import type { LeaseTokenOptions } from './auth/lease-tokens.ts';
import { type CorsOptions, checkCors } from './http/cors.ts';
import { TrustedProxies } from './http/forwarded.ts';
import { TlsFiles, type TlsOptions } from './http/tls-files.ts';
import { webhookRanges } from './webhooks/target.ts';

/** What stands between a server and the network. */
export interface EdgeOptions {
  jwt?: JwtOptions;
  cors?: CorsOptions;
  tls?: TlsOptions;
  trustProxy?: boolean | readonly string[];
  leaseTokens?: LeaseTokenOptions | boolean;
  /** Where webhooks may go, besides the internet. */
  webhookTargets?: readonly string[];
  /** Whether callers must say who they are. */
  asksWho: boolean;
}

/** Rejects as `createApp` and `serve` would, so that nothing else needs to be opened before. */
export async function checkEdge(edge: EdgeOptions): Promise<void> {
  const { jwt, cors, tls, trustProxy = false, leaseTokens, webhookTargets, asksWho } = edge;
  if (cors) checkCors(cors, asksWho);
  if (tls) new TlsFiles(tls, silentLogger);
  if (trustProxy !== false) new TrustedProxies(trustProxy);
  if (webhookTargets) webhookRanges(webhookTargets);
  if (typeof leaseTokens === 'object' && leaseTokens.secret !== undefined) configuredTokenKeys(leaseTokens.secret);
  if (jwt) await new JwtVerifier(jwt, systemClock).ready();
}
