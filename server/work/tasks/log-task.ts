/**
 * The log's lines about a task: one per change of its state, each with what finds the others. They
 * have no prompt, no result and no text of a vendor.
 */
import type { Engine } from './engine.ts'
import type { TaskRow } from './task.ts'

type LoggedTask = Pick<
  TaskRow,
  'id' | 'kind' | 'account_id' | 'key_id' | 'request_id' | 'model' | 'channel_id'
>

/** Returns the fields of each line about a task. */
export function fieldsOfTask(task: LoggedTask) {
  return {
    task_id: task.id,
    kind: task.kind,
    request_id: task.request_id,
    account_id: task.account_id,
    key_id: task.key_id,
    model: task.model,
    channel: task.channel_id,
  }
}

/** Writes that a task has changed its state. */
export function logTask(
  { services }: Pick<Engine, 'services'>,
  task: LoggedTask,
  message: string,
  more: TaskFields = {},
): void {
  services.log.info({ ...fieldsOfTask(task), ...more }, message)
}

interface TaskFields {
  readonly upstream_id?: string
  readonly status?: string
  readonly code?: string | undefined
  readonly charged?: string
  readonly outcome?: string
  readonly reason?: string
}
