/** Texts of work that goes on after its request is answered. */
import { defineMessages } from '../../../../lib/i18n.tsx'

export const taskMessages = defineMessages(
  {
    progress: 'Progress',
    elapsed: '{duration} so far',
    tookInAll: 'Done in {duration}',
    leave: 'You can leave this page: the task continues and is listed under Tasks.',
    toTask: 'Open the task',
    cancel: 'Cancel the task',
    failedTask: 'The task failed; nothing is charged for it',
    copying: 'Being copied into the gateway’s storage …',
    download: 'Download',
    lastFrame: 'Last frame',
    made: 'Output',
  },
  {
    progress: '进度',
    elapsed: '已用 {duration}',
    tookInAll: '用时 {duration}',
    leave: '您可以离开此页面：任务会继续，可在“任务”中查看。',
    toTask: '打开任务',
    cancel: '取消任务',
    failedTask: '任务失败，不收取费用',
    copying: '正在复制到此网关的存储…',
    download: '下载',
    lastFrame: '最后一帧',
    made: '生成结果',
  },
)
