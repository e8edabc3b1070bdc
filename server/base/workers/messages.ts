/** Messages between the supervisor and its workers. */

/** From worker to supervisor. */
export interface WorkerMessage {
  /**
   * serving: it accepts connections from now on. taken: it has received the connection that it was
   * handed. leaving: it accepts no more connections. started: its start is complete. metrics, pong:
   * the answers to a scrape and to a ping.
   */
  readonly tributary: 'serving' | 'taken' | 'leaving' | 'started' | 'metrics' | 'pong'
  /** With `metrics`, as the worker's registry has them. */
  readonly figures?: unknown
  /** With `started`. In demo mode, whose simulators belong to one process, there is one worker. */
  readonly isDemo?: boolean
}

/** From supervisor to worker. */
export type SupervisorMessage =
  /** With the connection itself. */
  | { readonly tributary: 'connection' }
  /** Each is answered by a message of its kind. */
  | { readonly tributary: 'metrics' | 'ping' }
  /** No connection follows. */
  | { readonly tributary: 'left' }
  | { readonly tributary: 'stop'; readonly reason: StopReason }

export type StopReason = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'fault'
