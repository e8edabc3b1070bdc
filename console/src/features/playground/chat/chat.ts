/** Chat: a conversation in any of the three dialects that a model is served in. */
import type { Capability } from '../frame/capability.ts'
import { ChatFields, ChatPrompt } from './fields.tsx'
import { readChat } from './read-chat.ts'
import { Thread } from './thread.tsx'
import { toOrder } from './to-order.ts'
import type { ChatValues, Reply } from './values.ts'

export const chat: Capability<ChatValues, Reply> = {
  initial: {
    dialect: 'completions',
    system: '',
    temperature: '',
    maxTokens: '',
    turns: [],
    draft: '',
  },
  samples: {
    draft: [
      'Name three rivers, and one thing that each is known for.',
      '说出三条河流，并各用一句话说明它因何闻名。',
    ],
  },
  toOrder,
  read: readChat,
  Fields: ChatFields,
  Prompt: ChatPrompt,
  Result: Thread,
  afterSend: (values) => ({
    ...values,
    turns: [...values.turns, { prompt: values.draft }],
    draft: '',
  }),
  afterAnswer: (values, reply) => ({
    ...values,
    turns: values.turns.with(-1, { prompt: values.turns.at(-1)?.prompt ?? '', reply }),
  }),
}
