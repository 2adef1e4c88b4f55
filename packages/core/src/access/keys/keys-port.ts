import type { TokenKeyStore } from '../../task-tokens/token-keys.ts';
import type { ApiKey, KeyHolder, KeyRequest } from './key.ts';
import type { Sessions } from './session-store.ts';

interface InTenant {
  tenant?: string;
}

/**
 * API keys: who may call a server. A call is about the keys of its tenant; an operator may name `ALL_TENANTS`, which means
 * every key, and in `create` a key whose holder names the tenant in each call.
 */
export interface Keys {
  /** The secret is in this answer and nowhere else: only its hash is stored. */
  create(request: KeyRequest, context?: InTenant & { by?: string }): Promise<{ key: ApiKey; secret: string }>;
  /** By age, revoked and expired ones of the last 30 days included. */
  list(context?: InTenant): Promise<ApiKey[]>;
  get(id: string, context?: InTenant): Promise<ApiKey>;
  /** The same key under a new secret. The old one counts for `keepOldMs` more. @defaultValue keepOldMs 0 */
  rotate(
    id: string,
    context?: InTenant & { by?: string; keepOldMs?: number },
  ): Promise<{ key: ApiKey; secret: string }>;
  /** No server takes it any more within a few seconds. */
  revoke(id: string, context?: InTenant & { by?: string }): Promise<ApiKey>;
  /** Who shows this secret; null: nobody who may call. For servers; not over HTTP. */
  identify(secret: string): Promise<KeyHolder | null>;
  /** For servers; not over HTTP, and not on a port of one caller. */
  readonly sessions?: Sessions;
  /** What lease tokens are signed with. For servers; not over HTTP, and not on a port of one caller. */
  readonly taskTokens?: TokenKeyStore;
}
