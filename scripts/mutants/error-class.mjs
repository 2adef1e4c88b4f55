// Guards of the error classifier: what decides first, and what never decides.
const errorClass = (file) => `packages/core/src/error-class/${file}`;

export const ERROR_CLASS_MUTANTS = [
  {
    name: 'text-before-code',
    guard: 'order: the code of an error decides before its text',
    file: errorClass('classify-error.ts'),
    replace: 'return this.#verdictOfChain(error, depth, chain) ?? verdictOfTexts(chain);',
    by: 'return verdictOfTexts([error]) ?? this.#verdictOfChain(error, depth, chain);',
    test: errorClass('shaped-errors.test.ts'),
    title: 'a code before the text',
  },
  {
    name: 'failed-fetch-is-a-defect',
    guard: 'order: the cause of a TypeError decides before its type',
    file: errorClass('error-types.ts'),
    replace: "isWeak: read(error, 'cause') !== undefined };",
    by: 'isWeak: false };',
    test: errorClass('shaped-errors.test.ts'),
    title: 'a TypeError around a network error',
  },
  {
    name: 'number-in-a-text-is-a-status',
    guard: 'check: a number that goes on as a sentence is no HTTP status',
    file: errorClass('text.ts'),
    replace: '(?=$|[:;)\\]]|[.,](?:\\s|$)| - | [{"]| [A-Z])/;',
    by: '/;',
    test: errorClass('shaped-errors.test.ts'),
    title: 'With status code 400 rows',
  },
  {
    name: 'retry-after-without-bound',
    guard: 'bound: no Retry-After holds a job for longer than a day',
    file: errorClass('retry-after.ts'),
    replace: 'Math.min(Math.ceil(ms), DAY_MS)',
    by: 'Math.ceil(ms)',
    test: errorClass('retry-after.test.ts'),
    title: 'no delay is longer than a day',
  },
];
