import { isTest } from './sources.mjs';

/** To be emptied: a store that wraps another one becomes a class that delegates. */
const MAY_USE_PROXY = ['packages/core/src/store/overlay.ts'];

/** Only `packages/core/src/commit` is to remain: whoever else changes a row shall do it through that folder. */
const MAY_CALL_APPLY = [
  'packages/core/src/commit/',
  'packages/core/src/blobs/offloaded-store.ts',
  'packages/core/src/blobs/whole-claims.ts',
  'packages/core/src/cron/fire.ts',
  'packages/core/src/maintenance/sweep.ts',
  'packages/core/src/transport/hinted-store.ts',
  'packages/core/src/workflow/advance.ts',
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
