/** Texts of what a usual call costs. */
import { defineMessages } from '../../lib/i18n.tsx'

export const messages = defineMessages(
  {
    both: 'A call of {input} input tokens and {output} output tokens costs {amount}.',
    inputOnly: 'A call of {input} input tokens costs {amount}.',
  },
  {
    both: '一次 {input} 个输入 token、{output} 个输出 token 的调用收费 {amount}。',
    inputOnly: '一次 {input} 个输入 token 的调用收费 {amount}。',
  },
)
