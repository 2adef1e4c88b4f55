// Guards of questions: what keeps an answer from being lost, and an approval from being used twice.
const FILE = 'packages/core/src/questions/questions.ts';
const RACES = 'packages/core/src/questions/races.test.ts';
const CASES = 'packages/core/src/questions/questions.test.ts';

export const QUESTION_MUTANTS = [
  {
    name: 'answer-without-short-sleep',
    guard: 'order: an answer shortens the sleep of its job before it is stored',
    file: FILE,
    replace: 'if (sleeper !== null && !(await this.#shorten(sleeper, now))) continue;',
    by: '',
    test: RACES,
    title: 'in whatever order and wherever they die',
  },
  {
    name: 'sleep-without-mark',
    guard: 'compare: a sleep that lasts is written after the record was marked',
    file: FILE,
    replace: 'const marked = await this.#put(record, { ...question, waitingRun: token.run });',
    by: 'const marked: StoredRecord | null = record;',
    test: RACES,
    title: 'in whatever order and wherever they die',
  },
  {
    name: 'second-answer-taken',
    guard: 'compare: a question is answered once',
    file: FILE,
    replace: "if (status !== 'open') throw notOpen(shownQuestion(record, job, now));",
    by: '',
    test: CASES,
    title: 'of two answers at once',
  },
  {
    name: 'any-snooze-woken',
    guard: 'compare: an answer wakes only the run that waits for it',
    file: FILE,
    replace: 'question.waitingRun !== null && sleeps(job, question.waitingRun) ? job : null;',
    by: "job.state === 'retryable' ? job : null;",
    test: CASES,
    title: 'a job that was snoozed for another reason',
  },
  {
    name: 'sleep-by-any-run',
    guard: 'fence: only the run that holds the lease asks',
    file: FILE,
    replace: 'throw refusal(job, token, undefined);',
    by: 'return this.#ofRun(job, asked);',
    test: CASES,
    title: 'a run that died after it had asked',
  },
];
