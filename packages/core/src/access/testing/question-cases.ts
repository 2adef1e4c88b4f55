import type { Questions } from '../../waybill.ts';
import { about, type Case } from './case.ts';

export const QUESTION_CASES: { [M in keyof Questions]: Case } = {
  list: about(
    'read',
    ({ questions }, _, at) => questions.list(at),
    ({ question }) => ({ items: [{ id: question }] }),
    { stranger: () => ({ items: [] }), narrowed: () => ({ items: [] }) },
  ),
  get: about('read', ({ questions }, { question }, at) => questions.get(question, at)),
  answer: about('admin', ({ questions }, { question }, at) => questions.answer(question, { choice: 'yes' }, at)),
};
