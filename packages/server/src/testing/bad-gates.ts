const ID = '019539a4-0000-7000-8000-000000000000';

const long = (length: number): string => 'x'.repeat(length);

/** What comes to gates of workflows from outside. */
export const BAD_GATE_FIELDS = [
  {
    path: `/ojs/v1/workflows/${ID}/signal`,
    good: { name: 'paid', data: 1 },
    bad: { name: [undefined, null, '', 1, {}, long(1_025)], by: [1, {}, long(257)], datum: [1] },
  },
  {
    path: `/ojs/v1/workflows/${ID}/approve`,
    good: { node: 'draft' },
    bad: {
      node: [undefined, null, '', 1, {}, long(1_025)],
      comment: [1, {}, long(5_001)],
      iteration: [0, 6, 1.5, '1'],
      by: [1, {}, long(257)],
      feedback: ['x'],
    },
  },
  {
    path: `/ojs/v1/workflows/${ID}/request-revision`,
    good: { node: 'draft', feedback: 'Shorter.' },
    bad: {
      node: [undefined, null, '', 1, {}, long(1_025)],
      feedback: [undefined, null, '', 1, {}, long(5_001)],
      iteration: [0, 6, 1.5, '1'],
      by: [1, {}, long(257)],
      comment: ['x'],
    },
  },
];

/** What a node that waits for a signal cannot say. */
export const BAD_SIGNALS: object[] = [
  { signal: 1 },
  { signal: { timeout_ms: 0 } },
  { signal: true, delay_ms: 1 },
  { signal: true, queue: 'q' },
];
