import type {
  DescMessage,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel as Level } from '@bufbuild/protobuf/wkt';
import type { Transport } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { Attempts, type SlowCalls, tooLate } from '../http/attempts.ts';
import { checkTenant, type Named, type StreamLogger, silent } from '../http/calls.ts';
import { headersOf } from '../http/credentials.ts';
import { download } from '../http/download.ts';
import { join, type Sleep } from '../http/waiting.ts';
import { TENANT_HEADER } from '../tenant-wire.ts';
import { rpcAddress } from './address.ts';
import { remoteError } from './rpc-error.ts';
import { Session } from './session.ts';
import { RECURSION } from './values.ts';

export interface RpcCallsOptions {
  tenant?: string;
  headers?: Record<string, string>;
  key?: string;
  callHeaders?: () => Record<string, string>;
  timeoutMs?: number;
  sleep?: Sleep;
  logger?: StreamLogger;
  slow?: SlowCalls;
}

export interface RpcCallOptions {
  /** As `tenantOf` answered it. */
  tenant: string;
  /** Whether a call whose fate is unknown may be sent again. @defaultValue for methods without side effects */
  repeatable?: boolean;
  /** Called before each repetition. */
  onRepeat?(): void;
  /** How much longer than usual the answer may take. @defaultValue 0 */
  waitMs?: number;
  signal?: AbortSignal;
}

/** Sends calls over one HTTP/2 connection. Deadlines, repetitions and errors are those of the HTTP client. */
export class RpcCalls {
  readonly logger: StreamLogger;
  /** The address of the server, without anything secret. */
  readonly server: string;
  readonly #attempts: Attempts;
  readonly #session: Session;
  readonly #transport: Transport;
  readonly #headers: Record<string, string>;
  readonly #callHeaders: RpcCallsOptions['callHeaders'];
  readonly #tenant: string;
  /** The tenant of this connection's key, as the server answers it. */
  #keyTenant = '';

  constructor(url: string, options: RpcCallsOptions) {
    const { server, origin } = rpcAddress(url);
    this.server = server;
    this.#headers = headersOf(options.headers, options.key);
    this.#callHeaders = options.callHeaders;
    this.#tenant = checkTenant(options.tenant ?? '');
    this.logger = options.logger ?? silent;
    const { timeoutMs, sleep, slow } = options;
    this.#attempts = new Attempts({ server, timeoutMs, sleep, slow });
    this.#session = new Session(origin);
    this.#transport = createGrpcTransport({
      ...{ baseUrl: origin, sessionManager: this.#session, binaryOptions: RECURSION },
    });
  }

  /** The tenant that a call is about: the one that it names, else that of the connection. */
  tenantOf(call: Named | undefined): string {
    return call?.tenant === undefined ? this.#tenant : checkTenant(call.tenant);
  }

  /** Whose things an answer shows: a key that belongs to a tenant need not name it, and the server then says which it is. */
  whose(asked: string): string {
    return asked === '' ? this.#keyTenant : asked;
  }

  /** Whether calls show who sends them. */
  get hasKey(): boolean {
    return new Headers(this.#headers).has('authorization');
  }

  get closing(): AbortSignal {
    return this.#attempts.closing;
  }

  get timeoutMs(): number {
    return this.#attempts.timeoutMs;
  }

  get sleep(): Sleep {
    return this.#attempts.sleep;
  }

  /** JSON from an address outside of the server. */
  download<T>(url: string): Promise<T> {
    return download<T>(url, (input, init) => globalThis.fetch(input, init), this);
  }

  /** Waits for the calls under way, then closes the connection. */
  async close(): Promise<void> {
    await this.#attempts.close();
    this.#session.abort();
  }

  /** Refused with a RemoteError. */
  call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    input: MessageInitShape<I>,
    options: RpcCallOptions,
  ): Promise<MessageShape<O>> {
    const { tenant, onRepeat, waitMs = 0, signal } = options;
    const { repeatable = method.idempotency === Level.NO_SIDE_EFFECTS } = options;
    const allowedMs = this.timeoutMs + waitMs;
    return this.#attempts.run({ repeatable, onRepeat, waitMs, signal }, async (late, leftMs) => {
      const hangUp = () => void (signal?.aborted || this.#session.giveUpConnecting());
      late.addEventListener('abort', hangUp, { once: true });
      try {
        const header = this.#headersFor(tenant);
        const answer = await this.#transport.unary(method, late, Math.ceil(leftMs) || 1, header, input);
        this.#note(tenant, answer.header);
        return answer.message;
      } catch (reason) {
        throw remoteError(reason, { server: this.server, allowedMs });
      } finally {
        late.removeEventListener('abort', hangUp);
      }
    });
  }

  /**
   * What a stream tells. One that does not begin to tell within the usual time is given up, where it is known that it must;
   * after that, pings tell whether the connection lives.
   */
  async *stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    input: MessageInitShape<I>,
    { tenant, signal, isPrompt }: { tenant: string; signal: AbortSignal; isPrompt: boolean },
  ): AsyncGenerator<MessageShape<O>> {
    const connection = join(signal);
    let isLate = false;
    const giveUp = () => {
      isLate = true;
      this.#session.giveUpConnecting();
      connection.abort();
    };
    const late = isPrompt ? setTimeout(giveUp, this.timeoutMs) : undefined;
    const only = (async function* () {
      yield input;
    })();
    try {
      const header = this.#headersFor(tenant);
      const answer = await this.#transport.stream(method, connection.signal, undefined, header, only);
      this.#note(tenant, answer.header);
      for await (const message of answer.message) {
        clearTimeout(late);
        yield message;
      }
    } catch (reason) {
      const allowedMs = this.timeoutMs;
      throw remoteError(isLate ? tooLate(this.server, allowedMs) : reason, { server: this.server, allowedMs });
    } finally {
      clearTimeout(late);
      connection.leave();
      connection.abort();
    }
  }

  #headersFor(tenant: string): Record<string, string> {
    return { ...this.#callHeaders?.(), ...this.#headers, ...(tenant !== '' && { [TENANT_HEADER]: tenant }) };
  }

  #note(tenant: string, header: Headers): void {
    if (tenant === '') this.#keyTenant = header.get(TENANT_HEADER) ?? this.#keyTenant;
  }
}
