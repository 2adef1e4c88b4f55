import { readFileSync, statSync } from 'node:fs';
import { ALL_TENANTS, type Logger, shownFile, systemClock, type Waybill, WaybillError } from '@waybill/core';
import { type AuthOptions, type EdgeOptions, givenKeys, isLoopback } from '@waybill/server';
import { misuse } from './command.ts';
import type { ServeOptions } from './serve-options.ts';

/** What stands between the server and the network, as the app and the listener take it. */
export interface Edge extends EdgeOptions {
  auth?: AuthOptions;
}

/** Beyond loopback callers show a key, unless somebody said that they need not. */
export function edgeOf(options: ServeOptions, logger: Logger): Edge {
  const { host, noAuth, auth, keys, jwt, sessionMs, corsOrigins, tls, trustProxy } = options;
  const asksWho = !noAuth && (auth ?? !isLoopback(host));
  if (!asksWho && [options.requestsPerMinute, options.openRequests, sessionMs].some((one) => one !== undefined))
    throw misuse(
      '--requests-per-minute, --open-requests and --session-hours need --auth: they are about callers that are known.',
    );
  if (keys && 'file' in keys) mustBeThere(keys.file);
  const ways: AuthOptions = {
    ...(keys && { given: givenKeys(keys, { logger }) }),
    ...(jwt && { jwt }),
    ...(sessionMs !== undefined && { sessionMs }),
  };
  return {
    asksWho,
    ...(asksWho && { auth: ways }),
    ...(asksWho && jwt && { jwt }),
    ...(corsOrigins && { cors: { origins: corsOrigins } }),
    ...(tls && { tls }),
    ...(trustProxy !== undefined && { trustProxy }),
    ...(options.webhookTargets && { webhookTargets: options.webhookTargets.targets }),
    ...leaseTokensOf(options),
  };
}

/** A key may stand where its file is expected, and an error must not show it. */
function mustBeThere(file: string): void {
  try {
    statSync(file);
  } catch (cause) {
    const { code = 'unknown error' } = cause as NodeJS.ErrnoException;
    throw new WaybillError('invalid_request', `Cannot read the file of --keys, ${shownFile(file)}: ${code}.`, {
      hint: 'Name a file that this process may read. Keys themselves go into WAYBILL_KEYS.',
    });
  }
}

/** Hints over SQS carry receipts, and tokens carry them to workers: those are signed without keys, too. */
function leaseTokensOf({ tokenSecret, transport }: ServeOptions): Pick<Edge, 'leaseTokens'> {
  if (tokenSecret !== undefined)
    return { leaseTokens: { secret: 'text' in tokenSecret ? tokenSecret.text : secretIn(tokenSecret.file) } };
  return transport === 'poll' ? {} : { leaseTokens: true };
}

/** No message quotes what is in the file. */
function secretIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    const { code = 'unknown error' } = cause as NodeJS.ErrnoException;
    throw new WaybillError('invalid_request', `Could not read the file of --token-secret: ${code}.`, {
      hint: 'Name a file with a secret of at least 32 bytes. The secret itself goes into WAYBILL_TOKEN_SECRET.',
    });
  }
}

/** What was asked for and is dangerous all the same. */
export function warnOfEdge({ host, tls, trustProxy = false }: ServeOptions, asksWho: boolean, logger: Logger): void {
  if (isLoopback(host)) {
    if (asksWho || trustProxy === false) return;
    const hint = 'Pass --auth, unless the proxy itself keeps strangers out.';
    logger.warn(
      { hint },
      'Anyone whom the proxy lets through can use this server: --trust-proxy was given without --auth.',
    );
    return;
  }
  const where = { host: host === '' ? '*' : host };
  if (!asksWho) {
    const hint = 'Leave out --no-auth, unless something else keeps strangers out.';
    logger.warn({ ...where, hint }, 'Anyone who reaches this server can use it: --no-auth was given.');
  } else if (!tls && trustProxy === false) {
    const hint = 'Pass --tls-cert and --tls-key, or let a proxy speak HTTPS and pass --trust-proxy.';
    logger.warn({ ...where, hint }, 'Keys travel unencrypted: this server speaks plain HTTP beyond loopback.');
  }
}

/** Of any tenant, and none that was revoked or has expired. */
export async function hasNoKeys({ keys }: Waybill): Promise<boolean> {
  const now = systemClock.now();
  const known = (await keys?.list({ tenant: ALL_TENANTS })) ?? [];
  return !known.some(({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt === null || expiresAt > now));
}
