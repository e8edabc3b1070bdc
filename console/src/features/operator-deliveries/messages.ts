/** Texts of the webhook deliveries of all accounts. */
import { defineMessages } from '../../lib/i18n.tsx'
import { words } from '../../lib/words/shared-words.ts'

export const messages = defineMessages(
  {
    ...words.en,
    title: 'Deliveries',
    description:
      'All webhook deliveries: up to four attempts each, retried after 5 seconds, 30 ' +
      'seconds and 5 minutes.',
    lastAnswer: 'Last response',
    id: 'Delivery id',
    redelivered: 'A new delivery is being sent',
    openNext: 'Sent again: show that delivery',
    emptyTitle: 'No deliveries yet',
    emptyText: 'A delivery is created when a task with a callback_url ends.',
  },
  {
    ...words.zh,
    title: '投递',
    description: '所有 Webhook 投递：每个最多尝试四次，失败后间隔 5 秒、30 秒和 5 分钟重试。',
    lastAnswer: '最近响应',
    id: '投递 ID',
    redelivered: '正在重新发送',
    openNext: '已重新发送：查看该投递',
    emptyTitle: '还没有投递',
    emptyText: '带 callback_url 的任务结束时会产生投递。',
  },
)
