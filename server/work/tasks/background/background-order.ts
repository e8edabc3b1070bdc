/** The order of a background response. */
import type { BackgroundWork, TaskSubmission } from '../submission.ts'
import type { NewTaskOrder } from '../submit/hold-task.ts'

export interface BackgroundSubmission extends TaskSubmission {
  readonly background: BackgroundWork
}

export interface BackgroundOrder extends NewTaskOrder {
  readonly submission: BackgroundSubmission
}
