import { questionToWire, toRfc3339 } from '@waybill/client';
import type { Question } from '@waybill/core';
import { command } from '../command.ts';
import type { Context } from '../context.ts';
import { wholeQuestionId } from '../job-ids.ts';
import { away } from '../spans.ts';
import { pairs } from '../table.ts';

export const questionsShow = command({
  name: 'questions show',
  section: 'Jobs',
  summary: 'show a question with its facts and its answer',
  args: 'ID',
  run: async ({ args: [named = ''] }, context) => {
    const waybill = await context.connect();
    const question = await waybill.questions.get(await wholeQuestionId(waybill, named));
    context.show({ question: questionToWire(question) }, () => factsOf(question, context));
    return 0;
  },
});

function factsOf(question: Question, context: Context): string {
  const { io, style } = context;
  const { answer } = question;
  const at = (ms: number) => `${toRfc3339(ms)} (${away(ms, io.now())})`;
  return pairs(
    [
      ['id', question.id],
      ['job', question.jobId],
      ['type', question.jobType],
      ['queue', question.queue],
      ['status', question.status, style.state],
      ['asked', at(question.askedAt)],
      ['expires', at(question.expiresAt)],
      ['question', question.text],
      ['choices', question.choices?.join(', ')],
      ['details', question.details === null ? undefined : JSON.stringify(question.details)],
      ['answered', answer === null ? undefined : at(answer.at)],
      ['by', answer?.by ?? undefined],
      ['choice', answer?.choice ?? undefined],
      ['text', answer?.text ?? undefined],
    ],
    context,
  );
}
