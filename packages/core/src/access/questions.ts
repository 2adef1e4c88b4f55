import { questionNotFound } from '../questions/questions.ts';
import type { Question, Questions, Waybill } from '../waybill.ts';
import type { Caller } from './caller.ts';

/** Whoever may read a job may read what it asks. To answer may let it do what it was not allowed to, and takes `admin`. */
export function scopedQuestions({ questions }: Waybill, caller: Caller): Questions {
  const sees = ({ queue, jobType }: Question): boolean => caller.sees({ queue, type: jobType });
  const found = async (id: string, tenant: string): Promise<Question> => {
    const question = await questions.get(id, { tenant });
    if (!sees(question)) throw questionNotFound(id);
    return question;
  };
  return {
    list: async (query = {}) => {
      const tenant = caller.enter('read', query);
      const page = await questions.list({ ...query, tenant });
      return caller.isNarrowed ? { ...page, items: page.items.filter(sees) } : page;
    },
    get: async (id, context) => found(id, caller.enter('read', context)),
    answer: async (id, answer, context) => {
      const tenant = caller.enter('admin', context);
      if (caller.isNarrowed) await found(id, tenant);
      return questions.answer(id, answer, { ...context, ...caller.by, tenant });
    },
  };
}
