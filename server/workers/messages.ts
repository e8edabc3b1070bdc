/** Messages between the supervisor and its workers. */

/** From worker to supervisor. */
export interface WorkerMessage {
  /**
   * serving: it takes connections from now on. taken: it has the connection that it was handed.
   * leaving: it wants no more. started: its start is complete.
   */
  readonly tributary: 'serving' | 'taken' | 'leaving' | 'started'
  /** With `started`. In demo mode, whose simulators belong to one process, there is one worker. */
  readonly isDemo?: boolean
}

/** From supervisor to worker. */
export type SupervisorMessage =
  /** With the connection itself. */
  | { readonly tributary: 'connection' }
  /** No connection follows. */
  | { readonly tributary: 'left' }
  | { readonly tributary: 'stop'; readonly reason: StopReason }

export type StopReason = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'fault'
