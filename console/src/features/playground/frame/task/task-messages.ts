/** Texts of tasks in the playground. */
import { defineMessages } from '../../../../lib/i18n.tsx'

export const taskMessages = defineMessages(
  {
    progress: 'Progress',
    elapsed: '{duration} so far',
    totalDuration: 'Done in {duration}',
    canLeave: 'You can leave this page: the task continues and is listed under Tasks.',
    toTask: 'Open the task',
    cancel: 'Cancel the task',
    failedTask: 'The task failed; nothing is charged for it',
    copying: 'Copying to the gateway’s storage …',
    download: 'Download',
    lastFrame: 'Last frame',
    output: 'Output',
  },
  {
    progress: '进度',
    elapsed: '已用 {duration}',
    totalDuration: '用时 {duration}',
    canLeave: '您可以离开此页面：任务会继续，可在“任务”中查看。',
    toTask: '打开任务',
    cancel: '取消任务',
    failedTask: '任务失败，不收取费用',
    copying: '正在复制到网关存储…',
    download: '下载',
    lastFrame: '最后一帧',
    output: '生成结果',
  },
)
