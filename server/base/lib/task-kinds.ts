/** The kinds of tasks that the gateway offers, in the order of filters. */
export const TASK_KINDS = ['video', 'minutes', 'erase', 'image', 'response'] as const

export type TaskKind = (typeof TASK_KINDS)[number]
