/** Texts of the webhook deliveries of all accounts. */
import { defineMessages } from '../../lib/i18n.tsx'

export const messages = defineMessages(
  {
    title: 'Deliveries',
    description:
      'All webhook deliveries: up to four attempts each, retried after 5 seconds, 30 ' +
      'seconds and 5 minutes.',
    created: 'Created',
    account: 'Account',
    kind: 'Kind',
    url: 'Receiver',
    state: 'State',
    attempts: 'Attempts',
    lastAnswer: 'Last response',
    finished: 'Ended',
    id: 'Delivery id',
    task: 'Task',
    taskId: 'Task id',
    filterAccount: 'Account id',
    emptyTitle: 'No deliveries yet',
    emptyText: 'A delivery is created when a task with a callback_url ends.',
  },
  {
    title: '投递',
    description: '所有 Webhook 投递：每个最多尝试四次，失败后间隔 5 秒、30 秒和 5 分钟重试。',
    created: '创建时间',
    account: '账户',
    kind: '类型',
    url: '接收地址',
    state: '状态',
    attempts: '尝试次数',
    lastAnswer: '最近响应',
    finished: '结束时间',
    id: '投递 ID',
    task: '任务',
    taskId: '任务 ID',
    filterAccount: '账户 ID',
    emptyTitle: '还没有投递',
    emptyText: '带 callback_url 的任务结束时会产生投递。',
  },
)
