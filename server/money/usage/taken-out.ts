/**
 * Counts the tools without a price that the gateway takes out of requests, for the operator who may
 * want to sell them. Sums are written every few seconds; only figures depend on them.
 */
import type { Sql } from 'postgres'
import type { Log } from '../../base/lib/log.ts'
import { addTakenOut, type TakenOutSum } from './taken-out-store.ts'

const EVERY_MS = 2_000
/** Between two lines of the log about the same model and tool. */
const LOG_MS = 3_600_000

interface TakenOutCounter {
  /** Counts an answer to a request that lost tools. */
  add(model: string, tools: Iterable<TakenOutTool>): void
  /** Writes what was counted, if the database is available. */
  stop(): Promise<void>
}

type TakenOutTool = Pick<TakenOutSum, 'tool' | 'unit'>

export function createTakenOutCounter(options: {
  readonly sql: Sql
  readonly log: Pick<Log, 'info' | 'warn'>
  /** Milliseconds of a steady clock. */
  readonly now: () => number
}): TakenOutCounter {
  const { sql, log } = options
  const hourly = createHourlyLog(options)
  let sums = new Map<string, TakenOutSum>()

  function count(sum: TakenOutSum): void {
    const key = `${sum.tool} ${sum.model}`
    sums.set(key, { ...sum, answers: (sums.get(key)?.answers ?? 0) + sum.answers })
  }

  async function flush(): Promise<void> {
    if (sums.size === 0) return
    const written = [...sums.values()]
    sums = new Map()
    try {
      await addTakenOut(sql, written)
    } catch (error) {
      for (const sum of written) count(sum)
      throw error
    }
    for (const sum of written) hourly(sum)
  }

  /** Writes run one after another, so that they do not pile up at a slow database. */
  let writing = Promise.resolve()
  const write = () => {
    writing = writing.then(flush).catch((error: unknown) => {
      log.warn({ error }, 'counting the tools that were taken out failed')
    })
    return writing
  }
  const timer = setInterval(write, EVERY_MS)
  timer.unref()
  return {
    add(model, tools) {
      for (const { tool, unit } of tools) count({ model, tool, unit, answers: 1 })
    },
    stop() {
      clearInterval(timer)
      return write()
    },
  }
}

/** Returns a function that logs the first sum of a model and tool at once, then hourly sums. */
function createHourlyLog({
  log,
  now,
}: Pick<Parameters<typeof createTakenOutCounter>[0], 'log' | 'now'>) {
  const logged = new Map<string, { readonly at: number; answers: number }>()
  return ({ model, tool, unit, answers }: TakenOutSum): void => {
    const key = `${tool} ${model}`
    const last = logged.get(key)
    if (last) last.answers += answers
    if (last && now() - last.at < LOG_MS) return
    logged.set(key, { at: now(), answers: 0 })
    log.info(
      {
        model,
        kind: tool,
        count: last?.answers ?? answers,
        reason: `no price for ${unit ?? 'it'}`,
      },
      'a tool was taken out of requests',
    )
  }
}
