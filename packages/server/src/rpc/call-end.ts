import { Code, ConnectError } from '@connectrpc/connect';

/** As gRPC writes them: `OK`, `NOT_FOUND`. */
export function statusName(code: Code | undefined): string {
  if (code === undefined) return 'OK';
  return code === Code.Canceled ? 'CANCELLED' : Code[code].replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
}

interface EndParts {
  reword(error: ConnectError): void;
  clientIsGone(): boolean;
}

/** How one call ended, whichever protocol it came by. */
export class CallEnd {
  readonly #status = Promise.withResolvers<string>();
  #isBegun = false;
  #clientHasLeft = false;

  /** Resolves with the status once the call is over: `OK`, `NOT_FOUND`. */
  get status(): Promise<string> {
    return this.#status.promise;
  }

  /** Whether the call has come to its handler, which is bound to end it. */
  get isBegun(): boolean {
    return this.#isBegun;
  }

  /**
   * Connect aborts the signal of a call with the error that ends it, in all protocols, right before it writes that error. So
   * this is where every error can be seen, also of messages that no handler has got; `reword` may change it in place.
   */
  watch(signal: AbortSignal, { reword, clientIsGone }: EndParts): void {
    this.#isBegun = true;
    const ended = () => {
      const reason: unknown = signal.reason;
      if (reason instanceof ConnectError) reword(reason);
      else if (clientIsGone()) this.left();
      this.over(this.#codeOf(reason));
    };
    if (signal.aborted) ended();
    else signal.addEventListener('abort', ended, { once: true });
  }

  /** The client takes no more of the answer. */
  left(): void {
    this.#clientHasLeft = true;
  }

  over(code: Code | undefined): void {
    this.#isBegun = true;
    this.#status.resolve(statusName(code));
  }

  #codeOf(reason: unknown): Code | undefined {
    if (reason instanceof ConnectError) return reason.code;
    if (this.#clientHasLeft) return Code.Canceled;
    // What a signal has for a reason where none was given: the answer is complete.
    return reason instanceof DOMException && reason.name === 'AbortError' ? undefined : Code.Internal;
  }
}

/** The protocol of a call, as OpenTelemetry names it. gRPC-Web counts as gRPC: its statuses are the same. */
export const systemOf = (contentType: string | undefined): 'grpc' | 'connect_rpc' =>
  contentType?.startsWith('application/grpc') ? 'grpc' : 'connect_rpc';
