// Simulators of the vendors' services on loopback, for tests, benchmarks and the demo. This code
// shares nothing with the gateway, so that a misreading of a vendor is not made twice.
import type { Server } from 'node:http'
import { ANTHROPIC_DEFAULTS, type AnthropicOptions, anthropic } from './anthropic/vendor.ts'
import { ARK_DEFAULTS, type ArkOptions, ark } from './ark/vendor.ts'
import { IMAGE_SCENARIOS, imageRoute } from './ark-media/images.ts'
import { VIDEO_TIMES, type VideoTimes, videoRoutes } from './ark-media/video.ts'
import { BEDROCK_DEFAULTS, type BedrockOptions, bedrock } from './bedrock/vendor.ts'
import { DASHSCOPE_DEFAULTS, type DashscopeOptions, dashscope } from './dashscope/vendor.ts'
import { type GoogleOptions, google, googleDefaults } from './google/vendor.ts'
import { Book } from './kernel/book.ts'
import { CallLog } from './kernel/calls.ts'
import { Control } from './kernel/control.ts'
import type { Route, Vendor } from './kernel/exchange.ts'
import { FaultQueue } from './kernel/fault-queue.ts'
import type { Platform } from './kernel/platform.ts'
import { type ScenarioName, ScenarioReader } from './kernel/scenario.ts'
import { flag, GENERAL_SCENARIOS, number, text } from './kernel/scenario-names.ts'
import { createSimulatorServer } from './kernel/server.ts'
import { Timers } from './kernel/timers.ts'
import { serveSockets } from './kernel/upgrade.ts'
import { KLING_DEFAULTS, type KlingOptions, kling } from './kling/vendor.ts'
import { createShelf } from './media/shelf.ts'
import { mediaRouters } from './media-routers/vendor.ts'
import { MEDIAKIT_DEFAULTS, type MediaKitOptions, mediakit } from './mediakit/vendor.ts'
import { MINIMAX_DEFAULTS, type MinimaxOptions, minimax } from './minimax/vendor.ts'
import { OPENAI_DEFAULTS, type OpenaiOptions, openai } from './openai/vendor.ts'
import { SPEECH_DEFAULTS, type SpeechOptions } from './openspeech/credentials.ts'
import { openspeech } from './openspeech/vendor.ts'
import { profileVendors } from './profiles/vendor.ts'
import { receiver } from './receiver/vendor.ts'
import { rerankers } from './rerank/vendor.ts'
import { SEARCH_DEFAULTS, type SearchOptions, search } from './search/vendor.ts'

export type { BookEntry, BookTotal } from './kernel/book.ts'
export type { ReceivedCall } from './kernel/calls.ts'

export interface SimulatorOptions {
  /** 0 takes any free port. */
  port: number
  host?: string
  /** Multiplies every delay: 0.1 makes the vendors ten times as fast. */
  timeScale?: number
  /** For benchmarks: no call log, no entries in the book, only its totals. */
  fast?: boolean
  /** The delay between two events of every stream in ms; prompts can override it. */
  chunkDelayMs?: number
  /** For benchmarks: the number of a stream's events per write; 1 by default. */
  eventsPerWrite?: number
  recordCalls?: boolean
  callsKept?: number
  openai?: Partial<OpenaiOptions>
  ark?: Partial<ArkOptions>
  anthropic?: Partial<AnthropicOptions>
  bedrock?: Partial<BedrockOptions>
  google?: Partial<GoogleOptions>
  openspeech?: Partial<SpeechOptions>
  search?: Partial<SearchOptions>
  mediakit?: Partial<MediaKitOptions>
  minimax?: Partial<MinimaxOptions>
  dashscope?: Partial<DashscopeOptions>
  kling?: Partial<KlingOptions>
  /** Waiting and running times of a video, before the time scale. */
  video?: Partial<VideoTimes>
}

export interface Simulators {
  /** Without a trailing slash; vendors are below it, at their `prefix`. */
  url: string
  port: number
  book: Book
  calls: CallLog
  faults: FaultQueue
  stop: () => Promise<void>
}

/**
 * Starts all vendors on one port. Resolves once it listens, rejects if the port is taken. `stop`
 * also ends open connections; output generated for them is still booked.
 */
export async function startSimulators(options: SimulatorOptions): Promise<Simulators> {
  const { host = '127.0.0.1', fast = false } = options
  const book = new Book({ totalsOnly: fast })
  const timers = new Timers()
  const timeScale = options.timeScale ?? 1
  const shelf = createShelf(timeScale)
  const platform: Platform = { book, timers, timeScale, shelf }
  const vendors = [
    openai({ ...OPENAI_DEFAULTS, ...options.openai }, platform),
    withRoutes(ark({ ...ARK_DEFAULTS, ...options.ark }), [
      ...videoRoutes(platform, { ...VIDEO_TIMES, ...options.video }),
      imageRoute(platform),
    ]),
    anthropic({ ...ANTHROPIC_DEFAULTS, ...options.anthropic }),
    bedrock({ ...BEDROCK_DEFAULTS, ...options.bedrock }),
    google({ ...googleDefaults(), ...options.google }),
    openspeech({ ...SPEECH_DEFAULTS, ...options.openspeech }, platform),
    search({ ...SEARCH_DEFAULTS, ...options.search }),
    mediakit({ ...MEDIAKIT_DEFAULTS, ...options.mediakit }, platform),
    minimax({ ...MINIMAX_DEFAULTS, ...options.minimax }, platform),
    kling({ ...KLING_DEFAULTS, ...options.kling }, platform),
    dashscope({ ...DASHSCOPE_DEFAULTS, ...options.dashscope }, platform),
    ...rerankers(),
    ...mediaRouters(platform),
    ...profileVendors(),
    receiver(),
    shelf.vendor,
  ]
  const ofVendors = vendors.flatMap((vendor) => vendor.scenarios)
  const scenarios = [...GENERAL_SCENARIOS, ...TASK_SCENARIOS, ...IMAGE_SCENARIOS, ...ofVendors]
  const reader = new ScenarioReader(scenarios)
  const recording = options.recordCalls ?? !fast
  const calls = new CallLog({ capacity: options.callsKept ?? 1000, recording })
  const faults = new FaultQueue(reader)
  const control = new Control({
    book,
    calls,
    faults,
    scenarios,
    vendors: vendors.map(({ name, prefix, routes, sockets = [] }) => {
      const operations = [...routes, ...sockets].map((route) => route.operation)
      return { name, prefix, operations: [...new Set(operations)] }
    }),
  })
  const parts = {
    vendors,
    book,
    calls,
    faults,
    control,
    reader,
    fast,
    timeScale,
    eventsPerWrite: options.eventsPerWrite ?? 1,
    chunkDelayMs: options.chunkDelayMs ?? 0,
  }
  const server = createSimulatorServer(parts)
  const endSockets = serveSockets(server, parts)
  const port = await listen(server, options.port, host)
  const stop = () => {
    timers.stop()
    endSockets()
    return close(server)
  }
  return { url: `http://${host}:${port}`, port, book, calls, faults, stop }
}

/** Adds services of a vendor that are in other folders. */
function withRoutes(vendor: Vendor, routes: Route[]): Vendor {
  return { ...vendor, routes: [...vendor.routes, ...routes] }
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host, backlog: 4096 }, () => {
      const address = server.address()
      resolve(typeof address === 'object' && address ? address.port : port)
    })
  })
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

export const TASK_SCENARIOS: ScenarioName[] = [
  number('queue-time', 'a task waits this many ms (scaled) before it runs'),
  number('run-time', 'a task runs for this many ms (scaled)'),
  number('polls', 'a task ends at its Nth poll, regardless of the clock'),
  flag('moderation', 'the text of the task is refused when it is created'),
  text('fail-task', 'the task is accepted and fails later; takes the code of its error'),
  flag('never-ends', 'the task runs until it expires, or forever without an expiry'),
  number('lost-answer', 'the task is accepted, and the answer to its creation is this HTTP status'),
  number('poll-storm', 'the first N polls of the task are answered 429'),
  number('poll-errors', 'the first N polls of the task are answered 500'),
  flag('vanishes', 'the record of the task is gone when it has ended, though it was billed'),
  flag('flips', 'an ended task is reported succeeded and failed in turn'),
  flag('no-result', 'the task succeeds but its answer names no file'),
  text('callbacks', 'none, twice or late: callbacks are not sent, repeated, or sent 60 s late'),
  number('media-seconds', 'the assumed length of a referenced recording or video'),
]
