/** The task of a video, and the video. */
import { useMessages } from '../../../lib/i18n.tsx'
import type { ResultProps } from '../frame/capability.ts'
import { PlaygroundMedia } from '../frame/task/media.tsx'
import { TaskProgress } from '../frame/task/task-progress.tsx'
import { messages } from './messages.ts'
import type { VideoValues } from './values.ts'

export function Film({ values, result: taskId }: ResultProps<VideoValues, string>) {
  const t = useMessages(messages)
  if (!taskId) return null
  return (
    <TaskProgress taskId={taskId}>
      {({ media }) => <PlaygroundMedia media={media} alt={t('alt', { prompt: values.prompt })} />}
    </TaskProgress>
  )
}
