import { isTest } from './sources.mjs';

const MAY_USE_PROXY = [];

/** Whoever else changes a row does it through the writer. A store that wraps another one is the store, and delegates. */
const MAY_CALL_APPLY = [
  'packages/core/src/commit/',
  'packages/core/src/blobs/offloaded-store.ts',
  'packages/telemetry/src/store/observed-store.ts',
];

const RULES = [
  { found: /\bnew Proxy\(/, allowed: MAY_USE_PROXY, why: 'no Proxy around a store: write a delegating class' },
  {
    // The names that stores go by.
    found: /(?:store|inner|target)[?!]?\.apply\(/i,
    allowed: MAY_CALL_APPLY,
    why: 'rows are changed through packages/core/src/commit',
  },
];

/** What production code may not do with a store. Judged by the text, so it needs no compiler. */
export function checkStoreRules({ file, text }) {
  if (!/^packages\/[^/]+\/src\//.test(file) || isTest(file)) return [];
  return RULES.flatMap(({ found, allowed, why }) => {
    const match = found.exec(text);
    return match && !allowed.some((name) => file.startsWith(name)) ? [`${file}: has '${match[0]}': ${why}`] : [];
  });
}
