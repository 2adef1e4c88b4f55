import { type Context, type Span, trace } from '@opentelemetry/api';

/** The key under which the API keeps the active span. The API asks a context for it and does not export it. */
const SPAN_KEY = spanKey();

/**
 * What `trace.setSpan` returns, without a Map and three closures for each context. A worker keeps one context for each
 * run until the run is settled, so those objects would survive several collections.
 */
export class ContextWithSpan implements Context {
  readonly #parent: Context;
  readonly #span: Span;

  constructor(parent: Context, span: Span) {
    this.#parent = parent;
    this.#span = span;
  }

  getValue(key: symbol): unknown {
    return key === SPAN_KEY ? this.#span : this.#parent.getValue(key);
  }

  setValue(key: symbol, value: unknown): Context {
    return trace.setSpan(this.#parent, this.#span).setValue(key, value);
  }

  deleteValue(key: symbol): Context {
    return trace.setSpan(this.#parent, this.#span).deleteValue(key);
  }
}

function spanKey(): symbol | undefined {
  let asked: symbol | undefined;
  const unchanged = (): Context => probe;
  const getValue = (key: symbol): undefined => {
    asked = key;
  };
  const probe: Context = { getValue, setValue: unchanged, deleteValue: unchanged };
  trace.getSpan(probe);
  return asked;
}
