/** Runs one call at a time: start, partial results, stop, outcome. */
import { useEffect, useRef, useState } from 'react'
import type { Capability } from '../capability.ts'
import type { PlaygroundRequest } from '../order.ts'
import { readApiError, sendOrder } from './send-order.ts'
import { useKey, type WithKey } from './use-key.tsx'

export interface PlaygroundCall<Result> {
  readonly phase: 'running' | 'done' | 'stopped' | 'failed'
  readonly order: PlaygroundRequest
  /** Known once the response headers have arrived. */
  readonly requestId?: string
  readonly result?: Result
  readonly failure?: Error
  readonly milliseconds?: number
}

export interface CallControl<Result> {
  readonly call: PlaygroundCall<Result> | undefined
  readonly isRunning: boolean
  /** Resolves with the outcome, after the page shows it. */
  readonly start: (order: PlaygroundRequest) => Promise<PlaygroundCall<Result>>
  readonly stop: () => void
  readonly clear: () => void
}

export function useCall<Values, Result>({
  read,
}: Pick<Capability<Values, Result>, 'read'>): CallControl<Result> {
  const withKey = useKey()
  const [call, setCall] = useState<PlaygroundCall<Result>>()
  const abort = useRef<AbortController>(undefined)
  useEffect(() => () => abort.current?.abort(), [])
  return {
    call,
    isRunning: call?.phase === 'running',
    async start(order) {
      abort.current?.abort()
      const controller = new AbortController()
      abort.current = controller
      const outcome = await run({ order, read, withKey, show: setCall, controller })
      // A call that the next one stopped must not replace it.
      if (abort.current === controller) setCall(outcome)
      return outcome
    },
    stop: () => abort.current?.abort(),
    clear: () => setCall(undefined),
  }
}

interface Run<Result> {
  readonly order: PlaygroundRequest
  readonly read: Capability<never, Result>['read']
  readonly withKey: WithKey
  readonly show: (call: PlaygroundCall<Result>) => void
  readonly controller: AbortController
}

async function run<Result>(options: Run<Result>): Promise<PlaygroundCall<Result>> {
  const { order, read, withKey, show, controller } = options
  const startedAt = performance.now()
  let call: PlaygroundCall<Result> = { phase: 'running', order }
  const update = (changes: Partial<PlaygroundCall<Result>>) => {
    call = { ...call, ...changes }
    if (!controller.signal.aborted) show(call)
  }
  const elapsed = () => ({ milliseconds: performance.now() - startedAt })
  update({})
  try {
    const response = await withKey((key) => sendOrder(order, key, controller.signal))
    const requestId = response.headers.get('x-request-id')
    if (requestId) update({ requestId })
    if (!response.ok) throw await readApiError(response)
    const reading = { startedAt, show: (result: Result) => update({ result }) }
    return { ...call, result: await read(response, reading, order), phase: 'done', ...elapsed() }
  } catch (error) {
    if (controller.signal.aborted) return { ...call, phase: 'stopped', ...elapsed() }
    const failure = error instanceof Error ? error : new Error(String(error))
    return { ...call, phase: 'failed', failure, ...elapsed() }
  }
}
