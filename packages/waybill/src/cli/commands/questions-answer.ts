import { questionToWire } from '@waybill/client';
import { command } from '../command.ts';
import { wholeQuestionId } from '../job-ids.ts';

export const questionsAnswer = command({
  name: 'questions answer',
  section: 'Jobs',
  summary: 'answer a question, so that its job goes on',
  args: 'ID ANSWER',
  options: { note: { value: 'TEXT', about: 'more for the job, beside one of the choices' } },
  notes: 'ANSWER is one of the choices, or any text where the question has none. A question is answered once.',
  run: async ({ args: [named = '', given = ''], values: { note } }, context) => {
    const waybill = await context.connect();
    const id = await wholeQuestionId(waybill, named);
    const { choices } = await waybill.questions.get(id);
    const answer = choices === null ? { text: note === undefined ? given : `${given}\n${note}` } : { choice: given };
    const text = choices !== null && note !== undefined ? { text: note } : {};
    const question = await waybill.questions.answer(id, { ...answer, ...text }, { by: 'cli' });
    context.show({ question: questionToWire(question) }, () => `${id} answered\n`);
    return 0;
  },
});
