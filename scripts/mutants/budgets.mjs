// Guards of budgets: what counts once, for whom, and who may change it.
const budgets = (file) => `packages/core/src/budgets/${file}`;
const TEST = budgets('budgets.test.ts');

export const BUDGET_MUTANTS = [
  {
    name: 'expense-counted-again',
    guard: 'key: a call that is sent again under its number counts once',
    file: budgets('budget-state.ts'),
    replace: '(known[1] === by.run && known[2] >= by.number)',
    by: 'false',
    test: TEST,
    title: 'a call that is sent again under its number',
  },
  {
    name: 'expense-without-fence',
    guard: 'fence: a run that does not hold its job any more spends nothing',
    file: budgets('spender.ts'),
    replace: 'if (!fenceAdmits(job, by)) throw refusal(job, token, workerId);',
    by: '',
    test: TEST,
    title: 'a run that does not hold its job any more',
  },
  {
    name: 'budget-level-told-again',
    guard: 'mark: each level of a period is told once',
    file: budgets('ledger.ts'),
    replace: 'const state = level === null ? after : { ...after, told: level };',
    by: 'const state = after;',
    test: TEST,
    title: 'once of 80 %',
  },
  {
    name: 'tenant-raises-itself',
    guard: 'check: only operators change the budgets of a tenant as a whole',
    file: 'packages/core/src/access/budgets.ts',
    replace: 'if (key == null && !caller.isOperator)',
    by: 'if (false)',
    test: TEST,
    title: 'a tenant sets those of its keys',
  },
  {
    name: 'budget-raised-as-record',
    guard: 'check: a budget is not changed as a record',
    file: 'packages/core/src/access/records.ts',
    replace: 'if (kind === BUDGET_KIND)',
    by: 'if (false)',
    test: TEST,
    title: 'a tenant sets those of its keys',
  },
  {
    name: 'expense-of-a-rival-lost',
    guard: 'compare: servers that spend of one budget at once lose nothing',
    file: budgets('ledger.ts'),
    replace: 'record = answer.record;',
    by: 'return info;',
    test: 'packages/core/src/store/memory/memory-store.test.ts',
    title: 'of many runs on many servers lose nothing',
  },
  {
    name: 'expense-under-another-number',
    guard: 'key: what was not answered is sent again as it was',
    file: 'packages/worker/src/execute/run-spending.ts',
    replace: 'if (expense.number === undefined) {',
    by: '{',
    test: 'packages/worker/src/worker.spending.test.ts',
    title: 'is sent again as it was',
  },
];
