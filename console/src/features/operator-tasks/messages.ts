/** Texts of the tasks of all accounts. */
import { defineMessages } from '../../lib/i18n.tsx'
import { words } from '../../lib/words/shared-words.ts'

export const messages = defineMessages(
  {
    ...words.en,
    title: 'Tasks',
    description: 'Long-running work: its state, its channel and its next poll.',
    polls: 'Polls',
    failures: 'Consecutive failed polls',
    finished: 'Finished',
    id: 'Task id',
    open: 'Open',
    anyId: 'Task or upstream id',
    call: 'Explain the charge',
    emptyTitle: 'No tasks yet',
    emptyText:
      'Videos, minutes, subtitle erasures and images appear here while they are in progress.',
  },
  {
    ...words.zh,
    title: '任务',
    description: '耗时任务的状态、渠道与下次轮询时间。',
    polls: '轮询次数',
    failures: '连续轮询失败',
    finished: '完成时间',
    id: '任务 ID',
    open: '未完成',
    anyId: '任务或上游 ID',
    call: '查看扣费明细',
    emptyTitle: '还没有任务',
    emptyText: '进行中的视频、纪要、字幕擦除与图片任务会显示在这里。',
  },
)
