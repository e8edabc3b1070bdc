/**
 * Finds what blocks the event loop. While one piece of work runs, no other request of the process
 * is served, so the watch runs always: a late timer means that the loop was blocked, and notes of
 * which request is being worked on identify the cause. A note costs one reading of the clock.
 */

/** A request, as far as it is known yet. */
export interface NotedWork {
  readonly requestId: string
  readonly route: string
  readonly facts: { readonly accountId?: string; readonly model?: string }
}

export interface HeldLoop {
  readonly heldMs: number
  /** Processor time of the loop's thread; far less than `heldMs` if the machine was busy. */
  readonly cpuMs: number
  /** The longest stretch of work for one request; undefined if nothing was noted in that time. */
  readonly longest: { readonly work: NotedWork; readonly tookMs: number } | undefined
}

type Report = (held: HeldLoop) => void

const HELD_MS = 200
/** The most by which the measured duration of a block may be too short. */
const TICK_MS = 20

/** There is one event loop, however many gateways a test runs on it. */
const reports = new Set<Report>()
let timer: NodeJS.Timeout | undefined
let tickAt = 0
let cpuAt = process.threadCpuUsage()

let current: NotedWork | undefined
let currentAt = 0
let longest: NotedWork | undefined
let longestMs = 0

/** Notes that the rest of this turn of the event loop is work for a request. */
export function noteWork(work: NotedWork): void {
  if (timer) begin(work, performance.now())
}

function begin(work: NotedWork | undefined, now: number): void {
  if (current && now - currentAt > longestMs) {
    longest = current
    longestMs = now - currentAt
  }
  current = work
  currentAt = now
}

/**
 * Reports each time that the event loop was blocked, once it is over. Returns a function that stops
 * the watch.
 */
export function watchLoop(report: Report): () => void {
  reports.add(report)
  if (!timer) {
    restart(performance.now())
    cpuAt = process.threadCpuUsage()
    timer = setInterval(tick, TICK_MS).unref()
  }
  return () => {
    reports.delete(report)
    if (reports.size > 0) return
    clearInterval(timer)
    timer = undefined
    restart(0)
  }
}

function tick(): void {
  const now = performance.now()
  const heldMs = now - tickAt - TICK_MS
  const cpu = process.threadCpuUsage()
  if (heldMs >= HELD_MS) {
    begin(undefined, now)
    const held = {
      heldMs,
      cpuMs: (cpu.user + cpu.system - cpuAt.user - cpuAt.system) / 1000,
      longest: longest && { work: longest, tookMs: longestMs },
    }
    for (const report of reports) report(held)
  }
  cpuAt = cpu
  restart(now)
}

/** Also drops the reference to the work, which would otherwise stay in memory. */
function restart(now: number): void {
  tickAt = now
  current = undefined
  longest = undefined
  longestMs = 0
}
